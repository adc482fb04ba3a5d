// npm run memhog -- -v2 --prometheus-addr=http://localhost:9090 --kubeconfig …
import { run } from "./process.ts";

process.exit(await run("node", ["operators/memhog/src/main.ts", ...process.argv.slice(2)]));
