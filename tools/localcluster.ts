// npm run localcluster -- up|down|status|load …
import { join } from "node:path";
import { run, top } from "./process.ts";

// localcluster does not depend on our packages; it starts the simulator through this variable.
const env = { LOCALCLUSTER_SIMULATOR: join(top, "tools/simulator.ts"), ...process.env };
process.exit(await run("node", ["packages/localcluster/src/main.ts", ...process.argv.slice(2)], env));
