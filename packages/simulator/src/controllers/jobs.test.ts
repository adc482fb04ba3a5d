import { Job, type Pod } from "@memhog/runtime";
import { anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideJob } from "./jobs.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const job = (spec: DeepPartial<Job["spec"]> = {}, status = {}) =>
  anObject(Job, { spec: { completions: 1, parallelism: 1, ...spec }, status } as never);
const pod = (phase: string, more: DeepPartial<Pod> = {}) =>
  aPod({ ...more, metadata: { name: phase, ...more.metadata }, status: { phase: phase as never } });
const succeeded = pod("Succeeded");
const failed = pod("Failed");
const running = pod("Running");
const typesOf = ({ status }: ReturnType<typeof decideJob>) =>
  (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);

describe("the pods of a job", () => {
  const steps = (of: ReturnType<typeof job>, ...pods: ReturnType<typeof pod>[]) => {
    const { create, remove } = decideJob(of, pods, now);
    return { create, remove: remove.length };
  };
  const wide = { completions: 5, parallelism: 3 };
  const cases = [
    { name: "come as many at once as may", steps: steps(job(wide)), decision: { create: 3, remove: 0 } },
    {
      name: "are not more than are still needed",
      steps: steps(job(wide), ...Array(4).fill(succeeded)),
      decision: { create: 1, remove: 0 },
    },
    { name: "that run are counted", steps: steps(job(wide), running), decision: { create: 2, remove: 0 } },
    { name: "that fail are replaced", steps: steps(job(), failed), decision: { create: 1, remove: 0 } },
    {
      name: "go when too many have failed",
      steps: steps(job({ ...wide, backoffLimit: 0 }), failed, running),
      decision: { create: 0, remove: 1 },
    },
    { name: "go when the job is suspended", steps: steps(job({ suspend: true }), running), decision: { create: 0, remove: 1 } },
    {
      name: "are left to finish after the first success of a queue",
      steps: steps(job({ completions: undefined, parallelism: 2 } as never), succeeded),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are not ours if somebody else manages the job",
      steps: steps(job({ managedBy: "example.com/queue", suspend: true }), running),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are not made if somebody else manages the job",
      steps: steps(job({ managedBy: "example.com/queue" })),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are ours if the job says so",
      steps: steps(job({ managedBy: "kubernetes.io/job-controller" })),
      decision: { create: 1, remove: 0 },
    },
    {
      name: "do not come back after the end",
      steps: steps(job({}, { conditions: [{ type: "Complete", status: "True" }] })),
      decision: { create: 0, remove: 0 },
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toEqual(decision));

  it("wait before they are made again", () => {
    const justNow = pod("Failed", { metadata: { creationTimestamp: "2026-01-01T01:00:00Z" } });
    expect(decideJob(job(), [justNow], now)).toMatchObject({ create: 0, againInMs: 10_000 });
    expect(decideJob(job(), [justNow, justNow], now)).toMatchObject({ create: 0, againInMs: 20_000 });
  });
});

describe("the end of a job", () => {
  it("is success when enough pods have succeeded", () => {
    const decision = decideJob(job(), [succeeded], now);
    expect(typesOf(decision)).toEqual(["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
    expect(decision.status).toMatchObject({ succeeded: 1, completionTime: "2026-01-01T01:00:00Z" });
  });
  it("is failure when too many pods have failed", () => {
    expect(typesOf(decideJob(job({ backoffLimit: 0 }), [failed], now))).toEqual([
      "FailureTarget BackoffLimitExceeded",
      "Failed BackoffLimitExceeded",
    ]);
  });
  it("is failure when time is up", () => {
    const slow = job({ activeDeadlineSeconds: 60 }, { startTime: "2026-01-01T00:00:00Z" });
    expect(typesOf(decideJob(slow, [running], now))).toContain("Failed DeadlineExceeded");
  });
  it("is followed by its removal, if it is to be", () => {
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:59:50Z" }];
    expect(decideJob(job({ ttlSecondsAfterFinished: 30 }, { conditions }), [], now).goesInMs).toBe(20_000);
    const theirs = job({ ttlSecondsAfterFinished: 30, managedBy: "example.com/queue" }, { conditions });
    expect(decideJob(theirs, [], now).goesInMs).toBe(20_000);
  });
  it("and its status are written by whoever manages it", () => {
    const status = { active: 3 };
    expect(decideJob(job({ managedBy: "example.com/queue" }, status), [succeeded], now).status).toEqual(status);
  });
});
