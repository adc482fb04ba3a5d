import type { Deployment, StatefulSet } from "@memhog/runtime";
import type { DaemonSet } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { maxUnavailableOfDaemonSet, maxUnavailableOfDeployment, maxUnavailableOfStatefulSet } from "./owner-facts.ts";

const common = { selector: {}, template: {} } as Deployment["spec"];

describe("the number of pods that a rollout may make unavailable", () => {
  it.each<{ name: string; strategy?: Deployment["spec"]["strategy"]; replicas: number; taken: number }>([
    { name: "default, 1 replica", replicas: 1, taken: 0 },
    { name: "default, 3 replicas: 25 % is rounded down to 0", replicas: 3, taken: 0 },
    { name: "default, 8 replicas", replicas: 8, taken: 2 },
    { name: "all with strategy Recreate", strategy: { type: "Recreate" }, replicas: 3, taken: 3 },
    {
      name: "maxSurge 0 and maxUnavailable 1",
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      replicas: 1,
      taken: 1,
    },
    {
      name: "maxUnavailable 1 and the default maxSurge",
      strategy: { rollingUpdate: { maxUnavailable: 1 } },
      replicas: 1,
      taken: 1,
    },
    {
      name: "maxSurge 0 and a default maxUnavailable that is rounded down to 0",
      strategy: { rollingUpdate: { maxSurge: 0 } },
      replicas: 1,
      taken: 1,
    },
    { name: "maxUnavailable 100%", strategy: { rollingUpdate: { maxUnavailable: "100%" } }, replicas: 4, taken: 4 },
    {
      name: "all if maxUnavailable cannot be parsed",
      strategy: { rollingUpdate: { maxUnavailable: "some" } },
      replicas: 4,
      taken: 4,
    },
  ])("a Deployment: $name", ({ strategy, replicas, taken }) =>
    expect(maxUnavailableOfDeployment({ ...common, ...(strategy && { strategy }) }, replicas)).toBe(taken),
  );

  it.each<{ name: string; updateStrategy?: StatefulSet["spec"]["updateStrategy"]; taken: number }>([
    { name: "by default", taken: 1 },
    { name: "half of 3, rounded up", updateStrategy: { rollingUpdate: { maxUnavailable: "50%" } }, taken: 2 },
    { name: "OnDelete: we evict one at a time", updateStrategy: { type: "OnDelete" }, taken: 1 },
  ])("a StatefulSet: $name", ({ updateStrategy, taken }) =>
    expect(maxUnavailableOfStatefulSet({ ...common, ...(updateStrategy && { updateStrategy }) }, 3)).toBe(taken),
  );

  it.each<{ name: string; updateStrategy?: DaemonSet["spec"]["updateStrategy"]; taken: number }>([
    { name: "by default", taken: 1 },
    { name: "surging", updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }, taken: 0 },
    { name: "half of 3, rounded up", updateStrategy: { rollingUpdate: { maxUnavailable: "50%" } }, taken: 2 },
    { name: "OnDelete: we evict one at a time", updateStrategy: { type: "OnDelete" }, taken: 1 },
  ])("a DaemonSet: $name", ({ updateStrategy, taken }) =>
    expect(maxUnavailableOfDaemonSet({ ...common, ...(updateStrategy && { updateStrategy }) }, 3)).toBe(taken),
  );
});
