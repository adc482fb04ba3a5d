// npm run check: all static checks. Each step runs one tool.
import { spawn } from "node:child_process";
import { top } from "./process.ts";

interface Step {
  readonly question: string;
  readonly command: string;
  readonly args: readonly string[];
  /** How to fix a failure, where the tool does not say. */
  readonly remedy?: string;
}

const steps: readonly Step[] = [
  {
    question: "formatted and linted",
    command: "biome",
    args: ["check", "."],
    remedy: "npx biome check --write . fixes most of it",
  },
  { question: "types", command: "tsc", args: ["--noEmit"] },
  { question: "imports", command: "node", args: ["tools/check-imports.ts"] },
  { question: "licenses", command: "node", args: ["tools/supply-chain.ts", "licenses"] },
  { question: "dead code", command: "knip", args: ["--no-progress", "--no-config-hints"] },
];

const results = await Promise.all(steps.map(async (step) => ({ step, ...(await quietly(step.command, step.args)) })));
for (const { step, code, output, seconds } of results) {
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${step.question} (${step.command}, ${seconds.toFixed(1)} s)`);
  if (code === 0) continue;
  console.log(output.trimEnd());
  if (step.remedy) console.log(`→ ${step.remedy}`);
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);

/** Runs a tool and returns its output, which is printed only if the tool fails. */
async function quietly(command: string, args: readonly string[]): Promise<{ code: number; output: string; seconds: number }> {
  const since = performance.now();
  const child = spawn(command, args, { cwd: top, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  const code = await new Promise<number>((done) => {
    child.on("error", (error) => {
      output += error.message;
      done(1);
    });
    child.on("close", (status) => done(status ?? 1));
  });
  return { code, output, seconds: (performance.now() - since) / 1000 };
}
