// npm run gordon -- --kubeconfig … [--image …]
import { run } from "./process.ts";

process.exit(await run("node", ["operators/gordon/src/main.ts", ...process.argv.slice(2)]));
