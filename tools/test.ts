// npm test: runs the static checks, then all tests that need only Node. Arguments go to vitest (`npm test -- quantity`).
import { exitOnFailure, run } from "./process.ts";

exitOnFailure(await run("node", ["tools/check.ts"]));
process.exit(
  await run("vitest", [
    "run",
    "--project",
    "node",
    "--reporter=default",
    "--reporter=./tools/closing-line.ts",
    ...process.argv.slice(2),
  ]),
);
