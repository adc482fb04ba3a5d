import type { Deployment, Pod, Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import type { Memcached } from "./api.ts";
import { aMemcached, itsDeployment, itsPod } from "./builders.fixture.ts";
import { statusInTrouble, statusOf } from "./status.ts";

const three = [itsPod("c"), itsPod("a"), itsPod("b")];
const progressing = (reason: string) => ({ conditions: [{ type: "Progressing", status: "False", reason, message: "" }] });

interface Case {
  readonly name: string;
  readonly memcached?: Stored<Memcached>;
  readonly deployment?: Stored<Deployment> | "none";
  readonly pods?: readonly Stored<Pod>[];
  /** The reasons of Available, Progressing and Degraded; "+" where the condition is True. */
  readonly says: string;
  readonly version?: string;
}

const cases: readonly Case[] = [
  { name: "nothing is there yet", deployment: "none", pods: [], says: "TooFewReady +Scaling AsExpected" },
  { name: "all is well", says: "+MinimumAvailable Settled AsExpected", version: "1.6.9" },
  {
    name: "pods are ready before the Deployment has noticed",
    deployment: itsDeployment(aMemcached(), { availableReplicas: 2 }),
    says: "+MinimumAvailable +Scaling AsExpected",
  },
  {
    name: "a bad tag, from the start",
    deployment: itsDeployment(aMemcached(), { availableReplicas: 0 }),
    pods: [itsPod("a", "ErrImagePull"), itsPod("b", "ImagePullBackOff")],
    says: "ImageNotPulled ImageNotPulled +ImageNotPulled",
  },
  {
    name: "a bad tag, while servers of the version before still serve: not available, and the version has not moved",
    memcached: aMemcached({ version: "9.9" }, { version: "1.6.9" }),
    deployment: itsDeployment(aMemcached({ version: "9.9" }), { updatedReplicas: 1, replicas: 4, availableReplicas: 3 }),
    pods: [...three, itsPod("d", "ErrImagePull", "9.9")],
    says: "ImageNotPulled ImageNotPulled +ImageNotPulled",
    version: "1.6.9",
  },
  {
    name: "a rollout on its way",
    memcached: aMemcached({ version: "1.7" }, { version: "1.6.9" }),
    deployment: itsDeployment(aMemcached({ version: "1.7" }), { updatedReplicas: 1, replicas: 4 }),
    pods: [...three, itsPod("d", "ContainerCreating", "1.7")],
    says: "+MinimumAvailable +RollingOut AsExpected",
    version: "1.6.9",
  },
  {
    name: "a rollout that has ended",
    memcached: aMemcached({ version: "1.7" }, { version: "1.6.9" }),
    deployment: itsDeployment(aMemcached({ version: "1.7" })),
    says: "+MinimumAvailable Settled AsExpected",
    version: "1.7",
  },
  {
    name: "a Deployment that its controller has not looked at yet has rolled out nothing",
    memcached: aMemcached({ version: "1.7" }, { version: "1.6.9" }),
    deployment: itsDeployment(aMemcached({ version: "1.7" }), { observedGeneration: 0 }),
    says: "+MinimumAvailable +RollingOut AsExpected",
    version: "1.6.9",
  },
  {
    name: "a Deployment that is not yet as asked is not settled",
    memcached: aMemcached({ size: 5 }, { version: "1.6.9" }),
    says: "TooFewReady +Scaling AsExpected",
    version: "1.6.9",
  },
  {
    name: "servers that crash",
    deployment: itsDeployment(aMemcached(), { availableReplicas: 0 }),
    pods: [itsPod("a", "CrashLoopBackOff")],
    says: "ServersCrashing ServersCrashing +ServersCrashing",
  },
  {
    name: "a rollout without progress",
    deployment: itsDeployment(aMemcached(), { availableReplicas: 0, ...progressing("ProgressDeadlineExceeded") }),
    pods: [],
    says: "TooFewReady Stalled +RolloutStalled",
  },
  {
    name: "a quota that is used up",
    deployment: itsDeployment(aMemcached(), {
      availableReplicas: 0,
      conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" }],
    }),
    pods: [],
    says: "TooFewReady +Scaling +PodsRefused",
  },
];

describe("the status of a Memcached", () => {
  it.each(cases)("$name", ({ memcached = aMemcached(), deployment = itsDeployment(), pods = three, says, version }) => {
    const status = statusOf(memcached, { deployment: deployment === "none" ? undefined : deployment, pods });
    const words = (status.conditions ?? []).map(({ status, reason }) => (status === "True" ? `+${reason}` : reason));
    expect([words.join(" "), status.version]).toEqual([says, version]);
  });

  it("nodes are sorted, and all numbers refer to them", () => {
    const status = statusOf(aMemcached(), { deployment: itsDeployment(), pods: [...three, itsPod("aa", "ContainerCreating")] });
    expect(status).toMatchObject({ nodes: ["a", "aa", "b", "c"], replicas: 4, readyReplicas: 3 });
  });

  it.each([
    { reason: "NameConflict" as const, name: "a conflict: the servers that it counted are not its own", readyReplicas: 0 },
    { reason: "Stuck" as const, name: "a refusal: the servers are as they were", readyReplicas: 3 },
  ])("all three conditions report $name", ({ reason, readyReplicas }) => {
    const before = aMemcached({}, { version: "1.6.9", replicas: 3, readyReplicas: 3, nodes: ["a", "b", "c"] });
    const status = statusInTrouble(before, { reason, message: "" });
    const words = (status.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
    expect(words).toEqual(["Available=False", "Progressing=False", "Degraded=True"]);
    expect(status).toMatchObject({ version: "1.6.9", readyReplicas });
  });
});
