import type { Container, PodSpec } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { requestsOf, sameResources, shortageFor, totalRequirements } from "./amounts.ts";
import { canonicalImage } from "./pod-tools.ts";

const mib = (count: number) => count * 1024 * 1024;
const asking = (name: string, memory: string, more: Partial<Container> = {}): Container => ({
  name,
  resources: { requests: { memory, cpu: "100m" } },
  ...more,
});

describe("resource requests of a pod", () => {
  const cases: readonly { readonly name: string; readonly spec: PodSpec; readonly gives: number }[] = [
    { name: "are the sum of its containers", spec: { containers: [asking("a", "10Mi"), asking("b", "20Mi")] }, gives: 30 },
    {
      name: "are those of the largest init container if that is more",
      spec: { initContainers: [asking("i", "50Mi")], containers: [asking("a", "10Mi")] },
      gives: 50,
    },
    {
      name: "add sidecars to the containers after them",
      spec: {
        initContainers: [asking("i", "100Mi"), asking("s", "20Mi", { restartPolicy: "Always" }), asking("j", "200Mi")],
        containers: [asking("a", "50Mi")],
      },
      gives: 220,
    },
    {
      name: "include the overhead of its RuntimeClass",
      spec: { containers: [asking("a", "10Mi")], overhead: { memory: "5Mi" } },
      gives: 15,
    },
    { name: "are 0 without requests", spec: { containers: [{ name: "a" }] }, gives: 0 },
  ];
  it.each(cases)("$name", ({ spec, gives }) => expect(requestsOf(spec).memory).toBe(mib(gives)));
});

describe("fit of a pod on a node", () => {
  const room = { allocatable: { cpu: 4_000, memory: mib(100) }, usedByOthers: { cpu: 1_000, memory: mib(60) } };
  it.each([
    { name: "fits", requested: { cpu: 3_000, memory: mib(40) }, gives: undefined },
    { name: "does not fit now", requested: { cpu: 0, memory: mib(41) }, gives: ["memory", false] },
    { name: "will never fit", requested: { cpu: 0, memory: mib(101) }, gives: ["memory", true] },
    { name: "is short of CPU", requested: { cpu: 3_500, memory: 0 }, gives: ["cpu", false] },
  ])("$name", ({ requested, gives }) => {
    const shortage = shortageFor(requested, room);
    expect(shortage && [shortage.resource, shortage.forever]).toEqual(gives);
  });

  it("reports the missing resource in the words of the kubelet", () => {
    expect(shortageFor({ cpu: 0, memory: mib(50) }, room)?.message).toBe(
      "Node didn't have enough resource: memory, requested: 52428800, used: 62914560, capacity: 104857600",
    );
  });
});

describe("resource quantities", () => {
  it("are equal in any notation", () => {
    expect(sameResources({ limits: { memory: "1Gi" } }, { limits: { memory: "1024Mi" } })).toBe(true);
    expect(sameResources({ limits: { memory: "1Gi" } }, { limits: { memory: "1G" } })).toBe(false);
    expect(sameResources({}, { requests: { cpu: "0" } })).toBe(false);
    expect(sameResources(undefined, {})).toBe(true);
  });

  it("add up, and a single value keeps its notation", () => {
    const total = totalRequirements([{ requests: { cpu: "10m" } }, { requests: { cpu: "1", memory: "32Mi" } }, undefined]);
    expect(total).toEqual({ requests: { cpu: "1010m", memory: "32Mi" } });
  });
});

describe("image name", () => {
  it.each([
    ["busybox", "docker.io/library/busybox:latest"],
    ["localcluster/busybox:test", "docker.io/localcluster/busybox:test"],
    ["localhost:5000/x", "localhost:5000/x:latest"],
    ["quay.io/metral/memhog:v0.0.1", "quay.io/metral/memhog:v0.0.1"],
    ["a/b@sha256:0", "docker.io/a/b@sha256:0"],
  ])("%s is %s in full", (image, full) => expect(canonicalImage(image)).toBe(full));
});
