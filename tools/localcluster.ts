// npm run localcluster -- up|down|status|load …
import { run } from "./process.ts";

process.exit(await run("node", ["packages/localcluster/src/main.ts", ...process.argv.slice(2)]));
