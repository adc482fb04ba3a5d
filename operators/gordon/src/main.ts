// The program.    npm run gordon -- --kubeconfig ~/.kube/config --install-crds
import { runOperator } from "@memhog/runtime";
import { program } from "./program.ts";

await runOperator(program);
