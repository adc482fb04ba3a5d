// npm run test:real [-- --kubernetes 1.32] [vitest arguments]: runs the tests that need a real Kubernetes. They start the
// cluster themselves (packages/localcluster). The version is an environment variable because vitest runs tests in
// workers.
import { parseArgs } from "node:util";
import { run } from "./process.ts";

const usage = `Usage: npm run test:real [-- [--kubernetes VERSION] [FILTER…] [-- VITEST-ARGUMENTS…]]

Runs every test that needs a real Kubernetes, on the newest supported version unless told otherwise.`;

const { values, positionals } = parsed();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const env = values.kubernetes === undefined ? process.env : { ...process.env, LOCALCLUSTER_KUBERNETES: values.kubernetes };
const reporters = ["--reporter=default", "--reporter=./tools/closing-line.ts"];
process.exit(await run("vitest", ["run", "--project", "real", ...reporters, ...positionals], env));

function parsed() {
  const options = { kubernetes: { type: "string" }, help: { type: "boolean", short: "h" } } as const;
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  } catch (error) {
    console.error(`test:real: ${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}
