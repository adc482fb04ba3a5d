import type { Pod } from "@memhog/runtime";
import { aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { container, memory, sidecar } from "./facts.fixture.ts";
import { podRequest } from "./pod-request.ts";

describe("what a pod takes of its node", () => {
  const main = container("main", "100Mi");
  const cases: readonly { name: string; pod: DeepPartial<Pod>; mib: number }[] = [
    { name: "containers add up", pod: { spec: { containers: [main, container("b", "50Mi")] } }, mib: 150 },
    {
      name: "of init containers the largest counts, if it is more than all the others together",
      pod: { spec: { initContainers: [container("a", "300Mi"), container("b", "200Mi")], containers: [main] } },
      mib: 300,
    },
    {
      name: "sidecars count with those who run, and with those who start after them",
      pod: { spec: { initContainers: [container("s", "50Mi", sidecar), container("i", "200Mi")], containers: [main] } },
      mib: 250,
    },
    { name: "overhead is on top", pod: { spec: { containers: [main], overhead: { memory: "7Mi" } } }, mib: 107 },
    { name: "a request for the whole pod wins", pod: { spec: { containers: [main], resources: memory("500Mi") } }, mib: 500 },
    { name: "what has ended takes nothing", pod: { status: { phase: "Succeeded" } }, mib: 0 },
    {
      name: "in a resize the larger counts of what is wanted and what is held",
      pod: {
        spec: { containers: [main] },
        status: { containerStatuses: [{ name: "main", allocatedResources: { memory: "150Mi" } }] },
      },
      mib: 150,
    },
    { name: "what cannot be read counts as nothing", pod: { spec: { containers: [container("main", "lots")] } }, mib: 0 },
  ];
  it.each(cases)("$name", ({ pod, mib: expected }) =>
    expect(podRequest(aPod({ status: { containerStatuses: [] }, ...pod }))).toBe(mib(expected)),
  );
});
