import { type Deployment, Pod, type Stored } from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { aDeployment, anObject, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideRollout } from "./decide.ts";
import { replicaSetFor } from "./replica-set-of.ts";

/** Ten pods with maxSurge 3 and maxUnavailable 2 by default. */
const deployment = (spec: DeepPartial<Deployment["spec"]> = {}) =>
  aDeployment({ metadata: { name: "web" }, spec: { replicas: 10, strategy: { type: "RollingUpdate" }, ...spec } });

interface Size {
  readonly replicas: number;
  readonly available?: number;
}

/** The ReplicaSet of the current template. */
const current = (of: Stored<Deployment>, { replicas, available = replicas }: Size) => {
  const { metadata, spec } = replicaSetFor(of, replicas, 2);
  return anObject(ReplicaSet, {
    metadata: { ...metadata, name: "new" },
    spec,
    status: { replicas, availableReplicas: available },
  } as never);
};
/** A ReplicaSet of an older template. */
const old = (of: Stored<Deployment>, { replicas, available = replicas }: Size, name = "old", revision = 1) => {
  const before = aDeployment({
    ...of,
    spec: { ...of.spec, template: { ...of.spec.template, metadata: { labels: { version: name } } } },
  });
  const { metadata, spec } = replicaSetFor(before, replicas, revision);
  return anObject(ReplicaSet, {
    metadata: { ...metadata, name },
    spec,
    status: { replicas, availableReplicas: available },
  } as never);
};

/** "create 3", "old → 8". */
const steps = (of: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[], pods: readonly Stored<Pod>[] = []) =>
  decideRollout(of, sets, pods).steps.map((step) => {
    if (step.kind === "create") return `create ${step.set.spec.replicas}`;
    return step.kind === "forget" ? `forget ${step.set.metadata.name}` : `${step.set.metadata.name} → ${step.to}`;
  });

describe("a rolling update", () => {
  const web = deployment();
  const both = (ours: Size, theirs: Size, of = web) => steps(of, [old(of, theirs), current(of, ours)]);
  const strict = deployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
  const careful = deployment({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  const cases = [
    { name: "creates all pods at once without old pods", steps: steps(web, []), decision: ["create 10"] },
    {
      name: "starts with maxSurge new pods beside old ones",
      steps: steps(web, [old(web, { replicas: 10 })]),
      decision: ["create 3"],
    },
    {
      name: "starts with no new pods without maxSurge",
      steps: steps(strict, [old(strict, { replicas: 10 })]),
      decision: ["create 0"],
    },
    {
      name: "removes maxUnavailable old pods",
      steps: both({ replicas: 3, available: 0 }, { replicas: 10 }),
      decision: ["old → 8"],
    },
    { name: "waits until new pods are available", steps: both({ replicas: 5, available: 0 }, { replicas: 8 }), decision: [] },
    {
      name: "removes unavailable old pods first",
      steps: both({ replicas: 3, available: 0 }, { replicas: 10, available: 8 }),
      decision: ["old → 8"],
    },
    { name: "creates new pods as old ones go", steps: both({ replicas: 3 }, { replicas: 8 }), decision: ["new → 5"] },
    { name: "removes the last old pod", steps: both({ replicas: 10 }, { replicas: 1 }), decision: ["old → 0"] },
    {
      name: "with maxUnavailable 0 adds one pod",
      steps: both({ replicas: 0 }, { replicas: 10 }, careful),
      decision: ["new → 1"],
    },
    {
      name: "with maxUnavailable 0 waits for the new pod",
      steps: both({ replicas: 1, available: 0 }, { replicas: 10 }, careful),
      decision: [],
    },
    {
      name: "with maxUnavailable 0 then removes one old pod",
      steps: both({ replicas: 1 }, { replicas: 10 }, careful),
      decision: ["old → 9"],
    },
    { name: "does nothing when complete", steps: steps(web, [current(web, { replicas: 10 })]), decision: [] },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toEqual(decision));
});

describe("a Recreate rollout", () => {
  const web = deployment({ replicas: 2, strategy: { type: "Recreate" } });
  const gone = old(web, { replicas: 0 });
  const pod = anObject(Pod, {
    metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "old", uid: gone.metadata.uid }] },
  });

  it("deletes all old pods first", () => {
    expect(steps(web, [old(web, { replicas: 2 })])).toEqual(["old → 0"]);
  });
  it("waits until the last old pod is gone", () => {
    expect(steps(web, [gone], [pod])).toEqual([]);
  });
  it("then creates the new pods", () => {
    expect(steps(web, [gone], [])).toEqual(["create 2"]);
  });
});

describe("scaling a Deployment", () => {
  const resized = (replicas: number, more: DeepPartial<Deployment["spec"]> = {}) => deployment({ replicas, ...more });
  const web = deployment();

  it("resizes its only ReplicaSet", () => {
    expect(steps(resized(4), [current(web, { replicas: 10 })])).toEqual(["new → 4"]);
  });
  it("resizes all ReplicaSets in proportion during a rollout", () => {
    const sets = [old(web, { replicas: 8 }), current(web, { replicas: 5 })];
    expect(steps(resized(20), sets)).toEqual(["old → 15", "new → 10"]);
  });
  it("also works while the rollout is paused", () => {
    expect(steps(resized(4, { paused: true }), [current(web, { replicas: 10 })])).toEqual(["new → 4"]);
  });
});

it("a paused rollout does not proceed", () => {
  const web = deployment({ paused: true });
  expect(steps(web, [old(web, { replicas: 10 })])).toEqual([]);
});

it("a template that is restored becomes the newest revision", () => {
  const web = deployment();
  const { revision } = decideRollout(web, [current(web, { replicas: 0 }), old(web, { replicas: 10 }, "old", 3)], []);
  expect(revision).toBe(4);
});

it("a Deployment keeps at most revisionHistoryLimit old ReplicaSets", () => {
  const web = {
    ...deployment({ revisionHistoryLimit: 1 }),
    status: { replicas: 10, updatedReplicas: 10, availableReplicas: 10 },
  };
  const history = [old(web, { replicas: 0 }, "second", 2), old(web, { replicas: 0 }, "first", 1)];
  expect(steps(web, [...history, current(web, { replicas: 10 })])).toEqual(["forget first"]);
});
