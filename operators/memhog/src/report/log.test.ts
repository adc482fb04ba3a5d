import { makeLogger } from "@memhog/runtime";
import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Ending } from "../act/outcome.ts";
import { aPlan } from "../model/plan.fixture.ts";
import { anIntent } from "../model/seen.fixture.ts";
import { logOutcomes, logPlan } from "./log.ts";

const app = { kind: "Deployment", namespace: "demo", name: "memhog" } as const;

function lines(verbosity: number, say: (log: ReturnType<typeof makeLogger>) => void) {
  const heard: string[] = [];
  say(makeLogger({ name: "test", verbosity, format: "json", clock: manualClock(), write: (line) => void heard.push(line) }));
  return heard.map((line) => JSON.parse(line));
}

describe("logs", () => {
  it.each([
    { verbosity: 0, levels: [] },
    { verbosity: 2, levels: ["debug"] },
    { verbosity: 4, levels: ["debug", "trace"] },
  ])("show a decision and what it rests on, by -v$verbosity", ({ verbosity, levels }) => {
    const heard = lines(verbosity, (log) => logPlan(log, app, aPlan()));
    expect(heard.map(({ level }) => level)).toEqual(levels);
    for (const line of heard)
      expect(line).toMatchObject({ app: "Deployment/memhog", pod: "memhog-1", container: "memhog", reason: "BelowThreshold" });
    if (verbosity === 4) expect(heard[1]).toMatchObject({ inputs: { usage: 104857600, sampleAgeMs: 2000 } });
  });

  it("always show a raise that has ended", () => {
    const settled = [{ intent: anIntent(), outcome: "Applied", detail: "confirmed" } as const];
    expect(lines(0, (log) => logPlan(log, app, aPlan({ settled })))).toMatchObject([
      { level: "info", pod: "memhog-1", outcome: "Applied", msg: "a raise has ended: Applied, confirmed" },
    ]);
  });

  it.each([
    { ended: "done", level: "info" },
    { ended: "refused", level: "warn" },
    { ended: "infeasible", level: "warn" },
    { ended: "unknown", level: "warn" },
    { ended: "changed", level: "debug" },
    { ended: "waits", level: "debug" },
  ] as const)("say of a command that it is $ended: $level", ({ ended, level }) => {
    const ending: Ending = { ended, detail: "so it is" };
    const outcome = { command: { do: "resize", intent: anIntent(), resourceVersion: "1", step: "both" } as const, ...ending };
    expect(lines(2, (log) => logOutcomes(log, app, [outcome]))).toMatchObject([{ level, command: "resize", ended }]);
  });
});
