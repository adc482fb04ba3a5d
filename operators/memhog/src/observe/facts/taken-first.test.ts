import type { DaemonSet, Deployment, StatefulSet } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { takenFirstByDaemonSet, takenFirstByDeployment, takenFirstByStatefulSet } from "./taken-first.ts";

const common = { selector: {}, template: {} } as Deployment["spec"];

describe("how many pods are taken away before others are Ready", () => {
  it.each<{ name: string; strategy?: Deployment["spec"]["strategy"]; replicas: number; taken: number }>([
    { name: "by default, of 1", replicas: 1, taken: 0 },
    { name: "by default, of 3: 25 % of them is less than one", replicas: 3, taken: 0 },
    { name: "by default, of 8", replicas: 8, taken: 2 },
    { name: "Recreate takes all", strategy: { type: "Recreate" }, replicas: 3, taken: 3 },
    { name: "no surge, one missing", strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }, replicas: 1, taken: 1 },
    { name: "one missing, though it surges", strategy: { rollingUpdate: { maxUnavailable: 1 } }, replicas: 1, taken: 1 },
    { name: "no surge, and less than one", strategy: { rollingUpdate: { maxSurge: 0 } }, replicas: 1, taken: 1 },
    { name: "100 %", strategy: { rollingUpdate: { maxUnavailable: "100%" } }, replicas: 4, taken: 4 },
    { name: "what cannot be read", strategy: { rollingUpdate: { maxUnavailable: "some" } }, replicas: 4, taken: 4 },
  ])("a Deployment: $name", ({ strategy, replicas, taken }) =>
    expect(takenFirstByDeployment({ ...common, ...(strategy && { strategy }) }, replicas)).toBe(taken),
  );

  it.each<{ name: string; updateStrategy?: StatefulSet["spec"]["updateStrategy"]; taken: number }>([
    { name: "by default", taken: 1 },
    { name: "half of 3, rounded up", updateStrategy: { rollingUpdate: { maxUnavailable: "50%" } }, taken: 2 },
    { name: "OnDelete: we evict one at a time", updateStrategy: { type: "OnDelete" }, taken: 1 },
  ])("a StatefulSet: $name", ({ updateStrategy, taken }) =>
    expect(takenFirstByStatefulSet({ ...common, ...(updateStrategy && { updateStrategy }) }, 3)).toBe(taken),
  );

  it.each<{ name: string; updateStrategy?: DaemonSet["spec"]["updateStrategy"]; taken: number }>([
    { name: "by default", taken: 1 },
    { name: "surging", updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }, taken: 0 },
    { name: "half of 3, rounded up", updateStrategy: { rollingUpdate: { maxUnavailable: "50%" } }, taken: 2 },
    { name: "OnDelete: we evict one at a time", updateStrategy: { type: "OnDelete" }, taken: 1 },
  ])("a DaemonSet: $name", ({ updateStrategy, taken }) =>
    expect(takenFirstByDaemonSet({ ...common, ...(updateStrategy && { updateStrategy }) }, 3)).toBe(taken),
  );
});
