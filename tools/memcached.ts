// npm run memcached -- --kubeconfig …
import { run } from "./process.ts";

process.exit(await run("node", ["operators/memcached/src/main.ts", ...process.argv.slice(2)]));
