// Bounds what a tenant can make the caches keep, whatever the objects contain.
import { type KubernetesObject, Pod, type Stored } from "@memhog/runtime";
import { HorizontalPodAutoscaler } from "@memhog/runtime/kinds";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { appAnnotation, monitorAnnotation } from "../api/names.ts";
import { asKept } from "./cached.fixture.ts";

const huge = "x".repeat(250_000);
const manyLabels = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`label-${at}`, "x".repeat(63)]));
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", uid: "u", controller: true };
const metadata = {
  ...{ name: "greedy", namespace: "default", labels: manyLabels, annotations: { "example.com/huge": huge } },
  ...{ finalizers: [`example.com/${huge}`], ownerReferences: [{ ...owner, name: huge }] },
};
const asked = { [monitorAnnotation]: "true" };
const spec = { containers: [{ name: "main", image: "example.com/main" }] };
const policy = { memThresholdPercent: 75, memMultiplier: 2 } as AppMonitor["spec"];
const sizeOf = (object: Stored<KubernetesObject>) => JSON.stringify(asKept(object)).length;

describe("cached objects", () => {
  it.each([
    { name: "an AppMonitor", object: anObject<AppMonitor>(AppMonitor, { metadata, spec: policy }) },
    { name: "an AppMemory", object: anObject<AppMemory>(AppMemory, { metadata, spec: { app: "Pod/greedy" } }) },
    { name: "a pod", object: anObject<Pod>(Pod, { metadata: { ...metadata, annotations: { ...asked, huge } }, spec }) },
    {
      name: "a bare pod that claims to be a copy",
      object: anObject<Pod>(Pod, { metadata: { name: "a", annotations: { ...asked, [appAnnotation]: huge } }, spec }),
    },
    {
      name: "a pod that claims to belong to a VPA",
      object: anObject<Pod>(Pod, {
        metadata: { name: "a", annotations: { ...asked, vpaUpdates: `memory updated by ${huge}:` } },
        spec,
      }),
    },
    {
      name: "an autoscaler",
      object: anObject<HorizontalPodAutoscaler>(HorizontalPodAutoscaler, {
        metadata,
        spec: { scaleTargetRef: { kind: "Deployment", name: huge }, maxReplicas: 3 },
      }),
    },
  ])("S3: $name takes less than 2 kB, whatever it contains", ({ object }) => expect(sizeOf(object)).toBeLessThan(2_000));

  it("AppMemories keep their generation, deletionTimestamp and owners", () => {
    const owners = [{ ...owner, name: "web-1" }];
    const times = { generation: 3, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const memory = anObject<AppMemory>(AppMemory, {
      metadata: { ...metadata, ...times, ownerReferences: owners },
      spec: { app: "Pod/greedy" },
    });
    expect(asKept(memory).metadata).toEqual({
      ...{ name: "greedy", namespace: "default", uid: memory.metadata.uid, resourceVersion: memory.metadata.resourceVersion },
      ...{ ...times, ownerReferences: owners },
    });
  });

  it("a pod with more than 16 kB of labels is not monitored, because selectors need all labels", () => {
    const labelled = (labels: Readonly<Record<string, string>>) =>
      asKept(anObject<Pod>(Pod, { metadata: { name: "a", annotations: asked, labels }, spec }));
    expect(labelled({ app: "web" })).toMatchObject({
      metadata: { labels: { app: "web" } },
      facts: { watched: { monitored: true } },
    });
    expect(labelled(manyLabels)).toMatchObject({ facts: { watched: undefined } });
    expect(labelled(manyLabels).metadata.labels).toBeUndefined();
  });
});
