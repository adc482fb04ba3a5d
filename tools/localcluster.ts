// npm run localcluster -- up|down|status|load …
import { join } from "node:path";
import { run, top } from "./process.ts";

// What is simulated is simulated by us; localcluster itself knows nothing of our packages.
const env = { LOCALCLUSTER_SIMULATOR: join(top, "tools/simulator.ts"), ...process.env };
process.exit(await run("node", ["packages/localcluster/src/main.ts", ...process.argv.slice(2)], env));
