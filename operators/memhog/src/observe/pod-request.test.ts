import type { Pod } from "@memhog/runtime";
import { aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { container, memory, sidecar } from "./facts.fixture.ts";
import { podRequest } from "./pod-facts.ts";

describe("the memory request of a pod", () => {
  const main = container("main", "100Mi");
  const cases: readonly { name: string; pod: DeepPartial<Pod>; mib: number }[] = [
    { name: "adds the containers", pod: { spec: { containers: [main, container("b", "50Mi")] } }, mib: 150 },
    {
      name: "is that of the largest init container if it exceeds the sum of the containers",
      pod: { spec: { initContainers: [container("a", "300Mi"), container("b", "200Mi")], containers: [main] } },
      mib: 300,
    },
    {
      name: "adds sidecars to the containers and to the init containers that start after them",
      pod: { spec: { initContainers: [container("s", "50Mi", sidecar), container("i", "200Mi")], containers: [main] } },
      mib: 250,
    },
    { name: "adds the overhead", pod: { spec: { containers: [main], overhead: { memory: "7Mi" } } }, mib: 107 },
    {
      name: "is the pod-level request if there is one",
      pod: { spec: { containers: [main], resources: memory("500Mi") } },
      mib: 500,
    },
    { name: "is zero for a finished pod", pod: { status: { phase: "Succeeded" } }, mib: 0 },
    {
      name: "is the larger of requested and allocated during a resize",
      pod: {
        spec: { containers: [main] },
        status: { containerStatuses: [{ name: "main", allocatedResources: { memory: "150Mi" } }] },
      },
      mib: 150,
    },
    { name: "treats an invalid quantity as zero", pod: { spec: { containers: [container("main", "lots")] } }, mib: 0 },
  ];
  it.each(cases)("$name", ({ pod, mib: expected }) =>
    expect(podRequest(aPod({ status: { containerStatuses: [] }, ...pod }))).toBe(mib(expected)),
  );
});
