import { isControlledBy, ownerReferenceTo, type Pod, type Seen, type Stored } from "@memhog/runtime";
import { anObject, aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { Gordon } from "./api.ts";
import { decidePods } from "./gordons.ts";
import { podFor } from "./pods.ts";

const image = "gordon:test";
/** A minute after everything of the builders was made. */
const now = Date.parse("2026-01-01T00:01:00Z");
const gordon = (replicas: number) => anObject(Gordon, { metadata: { name: "a" }, spec: { gordon: { replicas } } });

/** A pod of the gordon, ready unless it is said otherwise. */
function ours(
  ordinal: number,
  phase: "Running" | "Failed" | "Succeeded" | "Pending" = "Running",
  createdAt = "2026-01-01T00:00:00Z",
) {
  const { metadata, spec } = podFor(gordon(1), ordinal, image);
  const ready = { type: "Ready", status: phase === "Running" ? "True" : "False", lastTransitionTime: createdAt } as const;
  const ownerReferences = [ownerReferenceTo(gordon(1), Gordon)];
  const given = { metadata: { ...metadata, ownerReferences, creationTimestamp: createdAt }, spec };
  return aPod({ ...given, status: { phase, reason: "Evicted", conditions: [ready] } });
}

const foreign = (name: string) => aPod({ metadata: { name, labels: podFor(gordon(1), 0, image).metadata.labels ?? {} } });

/** A world in which there are these pods. */
function world(...pods: readonly Stored<Pod>[]): Seen<typeof Gordon | typeof Pod> {
  const children = () => pods.filter((pod) => isControlledBy(pod, gordon(1).metadata.uid));
  const get = (_: unknown, { name }: { name: string }) => pods.find(({ metadata }) => metadata.name === name);
  return { children, get, list: () => pods, lookup: () => [], now } as never;
}

const decide = (replicas: number, ...pods: readonly Stored<Pod>[]) => {
  const { children, status, outcome, events = [] } = decidePods(gordon(replicas), world(...pods), image);
  return {
    wants: children.map((each) => ("object" in each ? each.object.metadata.name.replace("gordon-a-", "") : each.intent)).join(),
    says: `${status?.conditions?.[0]?.reason} ${status?.readyReplicas}/${status?.replicas}`,
    outcome,
    tells: events.map(({ reason }) => reason),
    status,
  };
};

describe("the desired pods and the status of a Gordon", () => {
  const cases = [
    { name: "makes all of them at once", asked: 3, pods: [], wants: "0,1,2", says: "PodsMissing 0/0" },
    { name: "is content", asked: 2, pods: [ours(0), ours(1)], wants: "0,1", says: "AllPodsReady 2/2" },
    { name: "waits for pods to be ready", asked: 2, pods: [ours(0), ours(1, "Pending")], wants: "0,1", says: "PodsNotReady 1/2" },
    { name: "gives up the highest numbers", asked: 1, pods: [ours(0), ours(1), ours(2)], wants: "0", says: "TooManyPods 3/3" },
    { name: "wants none at 0", asked: 0, pods: [ours(0)], wants: "", says: "TooManyPods 1/1" },
    { name: "is content with none", asked: 0, pods: [], wants: "", says: "AllPodsReady 0/0" },
    { name: "removes what failed", asked: 2, pods: [ours(0, "Failed"), ours(1)], wants: "1", says: "PodsMissing 1/1" },
    { name: "removes what finished", asked: 2, pods: [ours(0), ours(1, "Succeeded")], wants: "0", says: "PodsMissing 1/1" },
    { name: "fills a gap", asked: 3, pods: [ours(0), ours(2)], wants: "0,1,2", says: "PodsMissing 2/2" },
    { name: "does not count a stranger", asked: 1, pods: [foreign("stranger")], wants: "0", says: "PodsMissing 0/0" },
    { name: "leaves a stranger its name", asked: 2, pods: [foreign("gordon-a-0"), ours(1)], wants: "1", says: "NameTaken 1/1" },
  ];
  it.each(cases)("$name", ({ asked, pods, wants, says }) => expect(decide(asked, ...pods)).toMatchObject({ wants, says }));

  it("lists pods by ordinal", () => {
    const pods = [10, 2, 0, 9].map((ordinal) => ours(ordinal));
    expect(decide(11, ...pods).status?.pods).toEqual(["gordon-a-0", "gordon-a-2", "gordon-a-9", "gordon-a-10"]);
  });

  it("replaces a pod that failed right after its start ten seconds after its creation at the earliest", () => {
    const { wants, outcome, tells } = decide(1, ours(0, "Failed", "2026-01-01T00:00:57Z"));
    expect([wants, outcome, tells]).toEqual(["0", expect.objectContaining({ kind: "requeueAfter", inMs: 7_000 }), []]);
    expect(decide(1, ours(0, "Failed")).tells).toEqual(["PodReplaced"]);
  });

  it("reports conflicting pods of other owners", () =>
    expect(decide(1, foreign("gordon-a-0")).status?.conditions?.[0]?.message).toContain("not ours, but in the way: gordon-a-0"));
});
