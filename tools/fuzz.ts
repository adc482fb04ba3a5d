// npm run fuzz -- [TARGET…] [--inputs N] [--seed S]: sends random inputs to all code that reads external data.
import { parseArgs } from "node:util";
import { type FuzzReport, fuzz, type Target } from "./fuzz/engine.ts";

const targets: Readonly<Record<string, () => Promise<Target>>> = {
  // Imported on demand, so that usage errors are reported quickly.
  http: async () => (await import("./fuzz/http-target.ts")).httpTarget(),
  parsers: async () => (await import("./fuzz/parser-target.ts")).parserTarget(),
};

const usage = `Usage: npm run fuzz -- [TARGET…] [--inputs N] [--seed S] [--first N]

Sends random inputs to each target (all of them, if none is named) and reports what must not happen: the process ends, a server fails
or no longer answers. The exit code is 1 if something was found, 2 for a wrong command line.

Targets: ${Object.keys(targets).join(", ")}
  http      every HTTP server of the repository: method, path, headers, bodies, half requests
  parsers   everything that parses: kubeconfigs, lists, watches, quantities, selectors, flags, answers of Prometheus, stored records

  --inputs N   inputs per target (default 10000)
  --seed S     a seed whose inputs to repeat (default: random, printed)
  --first N    the number of the first input; with --inputs 1 it repeats a finding
  --help`;

const options = {
  inputs: { type: "string", default: "10000" },
  seed: { type: "string" },
  first: { type: "string", default: "0" },
  help: { type: "boolean", short: "h" },
} as const;

class UsageError extends Error {}

async function main(): Promise<number> {
  const { values, positionals } = parsed();
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const unknown = positionals.find((name) => !Object.hasOwn(targets, name));
  if (unknown !== undefined) throw new UsageError(`expected one of ${Object.keys(targets).join(", ")}, found ${unknown}`);
  const inputs = countOf("--inputs", values.inputs, 1);
  const first = countOf("--first", values.first, 0);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : countOf("--seed", values.seed, 0);
  let failed = false;
  for (const [name, start] of Object.entries(targets)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const report = await run(name, start, { seed, inputs, first });
    failed ||= report.findings.length > 0;
  }
  return failed ? 1 : 0;
}

async function run(
  name: string,
  start: () => Promise<Target>,
  given: { readonly seed: number; readonly inputs: number; readonly first: number },
): Promise<FuzzReport> {
  console.log(`${name}: ${given.inputs} inputs, seed ${given.seed}`);
  await using target = await start();
  const since = performance.now();
  let shown = since;
  const report = await fuzz(target, {
    ...given,
    onFinding: ({ input, what }) =>
      console.log(`\nFOUND by npm run fuzz -- ${name} --seed ${given.seed} --first ${input} --inputs 1\n${what}`),
    onProgress: (tried) => {
      if (performance.now() - shown < 5_000) return;
      shown = performance.now();
      console.error(`  ${tried} of ${given.inputs}, ${Math.round((tried * 1000) / (shown - since))} a second`);
    },
  });
  if (target.summary) console.log(`${name}: ${target.summary()}`);
  const seconds = ((performance.now() - since) / 1000).toFixed(0);
  const block = report.longestBlockMs.toFixed(0);
  console.log(
    `${name}: ${report.tried} inputs in ${seconds} s, ${report.findings.length} findings, longest block of the event loop ${block} ms`,
  );
  return report;
}

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function countOf(flag: string, text: string, least: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < least)
    throw new UsageError(`${flag}: expected a whole number of ${least} or more, found ${JSON.stringify(text)}`);
  return count;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`fuzz: ${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
