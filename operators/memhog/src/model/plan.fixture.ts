// Plans for tests: nothing is due for the Deployment of seen.fixture.ts, unless a test says what is.
import { mib } from "./bytes.ts";
import type { Inputs, Plan, Summary, Verdict } from "./plan.ts";
import { emptyRecord } from "./record.ts";

export function aPlan(different: Partial<Plan> = {}): Plan {
  return {
    verdicts: [aVerdict()],
    record: emptyRecord,
    commands: [],
    settled: [],
    summary: aSummary(),
    againInMs: undefined,
    ...different,
  };
}

export function aSummary(different: Partial<Summary> = {}): Summary {
  return {
    phase: "Watching",
    reason: "BelowThreshold",
    message: "100Mi of 384Mi are used, the threshold is 288Mi",
    container: "memhog",
    limit: mib(384),
    wanted: undefined,
    applied: mib(384),
    ...different,
  };
}

export function aVerdict(different: Partial<Verdict> = {}): Verdict {
  return {
    pod: { name: "memhog-1", uid: "pod-1" },
    container: "memhog",
    decision: { kind: "hold", reason: "BelowThreshold", detail: "100Mi of 384Mi are used, the threshold is 288Mi" },
    inputs: someInputs(),
    ...different,
  };
}

export function someInputs(different: Partial<Inputs> = {}): Inputs {
  return {
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
    ...different,
  };
}
