// npm run check: everything that can be said about the tree without running it. Each step is one tool and one question.
import { spawn } from "node:child_process";
import { top } from "./process.ts";

interface Step {
  readonly question: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What to do about a failure, where the tool does not say. */
  readonly remedy?: string;
}

const steps: readonly Step[] = [
  {
    question: "formatted and linted",
    command: "biome",
    args: ["check", "."],
    remedy: "npx biome check --write . mends most of it",
  },
  { question: "types", command: "tsc", args: ["--noEmit"] },
  { question: "arrows", command: "node", args: ["tools/arrows.ts"] },
  { question: "nothing dead", command: "knip", args: ["--no-progress", "--no-config-hints"] },
];

const results = await Promise.all(steps.map(async (step) => ({ step, ...(await quietly(step.command, step.args)) })));
for (const { step, code, output, seconds } of results) {
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${step.question} (${step.command}, ${seconds.toFixed(1)} s)`);
  if (code === 0) continue;
  console.log(output.trimEnd());
  if (step.remedy) console.log(`→ ${step.remedy}`);
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);

/** Runs a tool and keeps what it prints, to be shown only when it has something to complain about. */
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
