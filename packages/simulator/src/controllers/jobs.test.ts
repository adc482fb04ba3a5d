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

describe("the pods of a Job", () => {
  const steps = (of: ReturnType<typeof job>, ...pods: ReturnType<typeof pod>[]) => {
    const { create, remove } = decideJob(of, pods, now);
    return { create, remove: remove.length };
  };
  const wide = { completions: 5, parallelism: 3 };
  const cases = [
    { name: "are created up to parallelism", steps: steps(job(wide)), decision: { create: 3, remove: 0 } },
    {
      name: "are not created beyond completions",
      steps: steps(job(wide), ...Array(4).fill(succeeded)),
      decision: { create: 1, remove: 0 },
    },
    { name: "are counted while they run", steps: steps(job(wide), running), decision: { create: 2, remove: 0 } },
    { name: "are replaced if they fail", steps: steps(job(), failed), decision: { create: 1, remove: 0 } },
    {
      name: "are deleted when backoffLimit is exceeded",
      steps: steps(job({ ...wide, backoffLimit: 0 }), failed, running),
      decision: { create: 0, remove: 1 },
    },
    {
      name: "are deleted when the Job is suspended",
      steps: steps(job({ suspend: true }), running),
      decision: { create: 0, remove: 1 },
    },
    {
      name: "finish after the first success without completions",
      steps: steps(job({ completions: undefined, parallelism: 2 } as never), succeeded),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are not deleted if managedBy names another controller",
      steps: steps(job({ managedBy: "example.com/queue", suspend: true }), running),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are not created if managedBy names another controller",
      steps: steps(job({ managedBy: "example.com/queue" })),
      decision: { create: 0, remove: 0 },
    },
    {
      name: "are created if managedBy names this controller",
      steps: steps(job({ managedBy: "kubernetes.io/job-controller" })),
      decision: { create: 1, remove: 0 },
    },
    {
      name: "are not created again after the end",
      steps: steps(job({}, { conditions: [{ type: "Complete", status: "True" }] })),
      decision: { create: 0, remove: 0 },
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toEqual(decision));

  it("are created again after a back-off", () => {
    const justNow = pod("Failed", { metadata: { creationTimestamp: "2026-01-01T01:00:00Z" } });
    expect(decideJob(job(), [justNow], now)).toMatchObject({ create: 0, againInMs: 10_000 });
    expect(decideJob(job(), [justNow, justNow], now)).toMatchObject({ create: 0, againInMs: 20_000 });
  });
});

describe("the end of a Job", () => {
  it("is Complete when enough pods have succeeded", () => {
    const decision = decideJob(job(), [succeeded], now);
    expect(typesOf(decision)).toEqual(["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
    expect(decision.status).toMatchObject({ succeeded: 1, completionTime: "2026-01-01T01:00:00Z" });
  });
  it("is Failed when too many pods have failed", () => {
    expect(typesOf(decideJob(job({ backoffLimit: 0 }), [failed], now))).toEqual([
      "FailureTarget BackoffLimitExceeded",
      "Failed BackoffLimitExceeded",
    ]);
  });
  it("is Failed at the deadline", () => {
    const slow = job({ activeDeadlineSeconds: 60 }, { startTime: "2026-01-01T00:00:00Z" });
    expect(typesOf(decideJob(slow, [running], now))).toContain("Failed DeadlineExceeded");
  });
  it("is followed by its removal after ttlSecondsAfterFinished", () => {
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:59:50Z" }];
    expect(decideJob(job({ ttlSecondsAfterFinished: 30 }, { conditions }), [], now).goesInMs).toBe(20_000);
    const theirs = job({ ttlSecondsAfterFinished: 30, managedBy: "example.com/queue" }, { conditions });
    expect(decideJob(theirs, [], now).goesInMs).toBe(20_000);
  });
  it("is not written if managedBy names another controller", () => {
    const status = { active: 3 };
    expect(decideJob(job({ managedBy: "example.com/queue" }, status), [succeeded], now).status).toEqual(status);
  });
});
