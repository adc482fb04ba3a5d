// A plan for tests of what is said about plans: the app of seen.fixture.ts, held because it is below its threshold.
import { mib } from "./bytes.ts";
import { aRecord } from "./observed-app.fixture.ts";
import type { Plan, Verdict } from "./plan.ts";

export function aVerdict(different: Partial<Verdict> = {}): Verdict {
  return {
    pod: { name: "memhog-1", uid: "pod-1" },
    container: "memhog",
    decision: { kind: "hold", reason: "BelowThreshold", detail: "100Mi of 384Mi is 26 %, below 75 %" },
    inputs: {
      usage: mib(100),
      sampleAgeMs: 2_000,
      limit: mib(384),
      request: mib(256),
      thresholdBytes: mib(288),
      growth: undefined,
      runsOutInMs: undefined,
      cooldownLeftMs: 0,
      raisesLastHour: 0,
      caps: [],
    },
    ...different,
  };
}

export function aPlan(different: Partial<Plan> = {}): Plan {
  return {
    verdicts: [aVerdict()],
    record: aRecord(),
    commands: [],
    settled: [],
    summary: {
      phase: "Watching",
      reason: "BelowThreshold",
      message: "100Mi of 384Mi is 26 %, below 75 %",
      container: "memhog",
      limit: mib(384),
      wanted: undefined,
      applied: mib(384),
      otherAutoscaler: undefined,
    },
    requeueAfterMs: undefined,
    ...different,
  };
}
