// The program.    npm run memcached -- --kubeconfig ~/.kube/config --install-crds
import { runOperator } from "@memhog/runtime";
import { program } from "./program.ts";

await runOperator(program);
