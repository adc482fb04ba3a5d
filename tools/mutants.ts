// npm run mutants -- [PATH…]: changes the code in small ways (Stryker) and reports each change that no test notices.
//
// Each file is mutated alone and tested with the test files of its name, because a test should fail near the mistake; --tests adds
// others. Survivors that change nothing a test could see are listed in mutants/known-survivors.json, with the reason.
// Stryker is installed on first use, in tools/mutants: it has more packages than everything else here together.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { type FileReport, type KnownSurvivor, summarize, survivorsIn } from "./mutants/report.ts";
import { run, top } from "./process.ts";

const defaultPaths = [
  "operators/memhog/src/decide",
  "operators/memhog/src/execute",
  "packages/runtime/src/controller",
  "packages/runtime/src/cache",
  "packages/runtime/src/operator/leader-election.ts",
];

const usage = `Usage: npm run mutants -- [PATH…] [--tests PATH…] [--minutes N] [--output json]

Mutates each production file below the paths and runs the test files of its name. Reports mutants that survive and are not explained in
tools/mutants/known-survivors.json. The exit code is 1 if there are any, 2 for a wrong command line.

Paths by default: ${defaultPaths.join(", ")}

  --tests PATH   another test file to run; may be repeated
  --minutes N    do not start on another file after N minutes, and end what runs (default 60)
  --output json  print the report as JSON
  --help`;

const options = {
  tests: { type: "string", multiple: true },
  minutes: { type: "string", default: "60" },
  output: { type: "string", default: "text" },
  help: { type: "boolean", short: "h" },
} as const;

const home = join(top, "tools/mutants");

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const files = (positionals.length > 0 ? positionals : defaultPaths).flatMap(sourcesBelow);
  const minutes = Number(values.minutes);
  if (files.length === 0 || !(minutes > 0) || !["text", "json"].includes(values.output)) {
    console.error(usage);
    return 2;
  }
  await install();
  const deadline = performance.now() + minutes * 60_000;
  const known: readonly KnownSurvivor[] = JSON.parse(readFileSync(join(home, "known-survivors.json"), "utf8"));
  const reports = files.map((file) => mutate(file, values.tests ?? [], deadline, known));
  console.log(values.output === "json" ? JSON.stringify(reports, null, 2) : summarize(reports));
  return reports.some(({ survivors }) => survivors.some(({ why }) => why === undefined)) ? 1 : 0;
}

/** The production files at or below a path. */
function sourcesBelow(path: string): readonly string[] {
  const found = path.endsWith(".ts") ? [path] : globSync(`${path}/**/*.ts`, { cwd: top });
  return found.filter((file) => !/\.(test|fixture)\.ts$|\/(testing|generated)\//.test(file)).toSorted();
}

async function install(): Promise<void> {
  if (existsSync(join(home, "node_modules/@stryker-mutator/vitest-runner"))) return;
  console.error("installing Stryker …");
  // Without peers: the runner finds the vitest of the repository, which the tests import, too.
  const args = [
    "install",
    "--prefix",
    home,
    "--legacy-peer-deps",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const code = await run("npm", args);
  if (code !== 0) throw new Error(`npm ${args.join(" ")}: expected exit code 0, found ${code}`);
}

/** The test files with the name of the file (`caps.test.ts`, `caps-of-nodes.test.ts`), or all of its folder if there are none. */
function testsOf(file: string): readonly string[] {
  const folder = globSync(`${dirname(file)}/*.test.ts`, { cwd: top }).filter((test) => !test.endsWith(".real.test.ts"));
  const own = folder.filter((test) => test.startsWith(file.slice(0, -".ts".length)));
  return own.length > 0 ? own : folder;
}

function mutate(file: string, more: readonly string[], deadline: number, known: readonly KnownSurvivor[]): FileReport {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) return { file, state: "not started", mutants: 0, survivors: [] };
  const tests = [...testsOf(file), ...more];
  console.error(`${file}: ${tests.length} test files`);
  using folder = mkdtempDisposableSync(join(tmpdir(), "memhog-mutants-"));
  const report = join(folder.path, "report.json");
  const config = join(folder.path, "stryker.config.json");
  writeFileSync(config, JSON.stringify(strykerOptions(file, report, folder.path)));
  const stryker = join(home, "node_modules/.bin/stryker");
  const env = { ...process.env, MUTANTS_TESTS: tests.join(","), CI: "true" };
  const { error, stdout } = spawnSync(stryker, ["run", config], { cwd: top, env, encoding: "utf8", timeout: Math.ceil(leftMs) });
  if (!existsSync(report)) {
    if (error === undefined) console.error(stdout.slice(-2000));
    return { file, state: error === undefined ? "failed" : "out of time", mutants: 0, survivors: [] };
  }
  return { file, state: "finished", ...survivorsIn(file, JSON.parse(readFileSync(report, "utf8")), known) };
}

function strykerOptions(file: string, report: string, folder: string): object {
  return {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "tools/mutants/vitest.config.ts" },
    mutate: [file],
    // Most texts are messages, and no test should compare those.
    mutator: { excludedMutations: ["StringLiteral"] },
    coverageAnalysis: "perTest",
    concurrency: 2,
    tempDirName: join(folder, "sandbox"),
    reporters: ["json"],
    jsonReporter: { fileName: report },
    disableTypeChecks: false, // Node.js strips the types
    tsconfigFile: "none", // TypeScript 7 has no API that Stryker could read it with
    checkers: [],
    allowConsoleColors: false,
  };
}

process.exitCode = await main();
