// npm run bench -- NAME [--json] [arguments…]: runs bench/NAME/main.ts. A benchmark prints its progress to stderr, and a
// table (or JSON, with --json) to stdout.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run, top } from "./process.ts";

const [name, ...rest] = process.argv.slice(2);
const names = readdirSync(join(top, "bench"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
if (name === undefined || name === "--help" || name === "-h" || !existsSync(join(top, "bench", name, "main.ts"))) {
  console.error(
    `Usage: npm run bench -- NAME [--json]\n\nexpected one of: ${names.join(", ") || "(none yet)"}; found: ${name ?? "nothing"}`,
  );
  process.exit(name === "--help" || name === "-h" ? 0 : 2);
}
process.exit(await run("node", [join("bench", name, "main.ts"), ...rest]));
