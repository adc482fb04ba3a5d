import { loadPino, makeLogger } from "@memhog/runtime/operator";
import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Ending } from "../execute/outcome.ts";
import { anIntent } from "../model/observed-app.fixture.ts";
import { aPlan } from "../model/plan.fixture.ts";
import { logOutcomes, logPlan } from "./report.ts";

const pino = await loadPino();

const app = { kind: "Deployment", namespace: "demo", name: "memhog" } as const;

function lines(verbosity: number, say: (log: ReturnType<typeof makeLogger>) => void) {
  const heard: string[] = [];
  say(
    makeLogger({ name: "test", verbosity, format: "json", clock: manualClock(), write: (line) => void heard.push(line) }, pino),
  );
  return heard.map((line) => JSON.parse(line));
}

describe("log", () => {
  it.each([
    { verbosity: 0, levels: [] },
    { verbosity: 2, levels: ["debug"] },
    { verbosity: 4, levels: ["debug", "trace"] },
  ])("-v$verbosity logs decisions and their inputs at the levels $levels", ({ verbosity, levels }) => {
    const heard = lines(verbosity, (log) => logPlan(log, app, aPlan()));
    expect(heard.map(({ level }) => level)).toEqual(levels);
    for (const line of heard)
      expect(line).toMatchObject({ app: "Deployment/memhog", pod: "memhog-1", container: "memhog", reason: "BelowThreshold" });
    if (verbosity === 4) expect(heard[1]).toMatchObject({ inputs: { usage: 104857600, sampleAgeMs: 2000 } });
  });

  it("always contains finished raises", () => {
    const settled = [{ intent: anIntent(), outcome: "Applied", message: "confirmed" } as const];
    expect(lines(0, (log) => logPlan(log, app, aPlan({ settled })))).toMatchObject([
      { level: "info", pod: "memhog-1", outcome: "Applied", msg: "raise finished: Applied, confirmed" },
    ]);
  });

  it.each([
    { outcome: "done", level: "info" },
    { outcome: "refused", level: "warn" },
    { outcome: "infeasible", level: "warn" },
    { outcome: "unknown", level: "warn" },
    { outcome: "changed", level: "debug" },
    { outcome: "waits", level: "debug" },
  ] as const)("logs a command with the outcome $outcome at level $level", ({ outcome, level }) => {
    const ending: Ending = { outcome, message: "so it is" };
    const executed = { command: { do: "resize", intent: anIntent(), resourceVersion: "1", step: "both" } as const, ...ending };
    expect(lines(2, (log) => logOutcomes(log, app, [executed]))).toMatchObject([{ level, command: "resize", outcome }]);
  });
});
