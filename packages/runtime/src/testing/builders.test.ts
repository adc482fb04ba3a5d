import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import { defineResource } from "../schema/define-resource.ts";
import { aDeployment, aNode, anObject, aPod } from "./builders.ts";

describe("builders", () => {
  it("create objects as the API server would store them", () => {
    expect(anObject(ConfigMap, { data: { a: "1" } })).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "example",
        namespace: "default",
        uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
        resourceVersion: "1",
        generation: 1,
        creationTimestamp: "2026-01-01T00:00:00Z",
      },
      data: { a: "1" },
    });
  });

  it("apply the defaults of a custom resource, and leave invalid values unchanged", () => {
    const spec = z.object({ size: z.int(), color: z.enum(["red", "blue"]).default("red") });
    const Ball = defineResource({ group: "example.com", version: "v1", kind: "Ball", spec });
    expect(anObject(Ball, { spec: { size: 3 } }).spec).toEqual({ size: 3, color: "red" });
    expect(anObject(Ball, { spec: { size: 3, color: "blue" } }).spec).toEqual({ size: 3, color: "blue" });
    expect(anObject(Ball)).not.toHaveProperty("spec");
  });

  it("set no namespace for cluster-scoped kinds", () => expect(anObject(Namespace).metadata).not.toHaveProperty("namespace"));

  it("merge the given fields into the default object, and replace lists", () => {
    const pod = aPod({ metadata: { name: "hungry" }, status: { phase: "Failed", containerStatuses: [] } });
    expect(pod.metadata).toMatchObject({ name: "hungry", namespace: "default" });
    expect(pod.status).toMatchObject({ phase: "Failed", qosClass: "Burstable", containerStatuses: [] });
    expect(pod.spec.containers[0]?.resources?.limits).toEqual({ memory: "384Mi" });
  });

  it("create the same object each time, and another UID for another name", () => {
    expect(aPod()).toEqual(aPod());
    expect(aPod({ metadata: { name: "other" } }).metadata.uid).not.toBe(aPod().metadata.uid);
    expect(aDeployment().metadata.uid).not.toBe(aPod().metadata.uid);
  });

  it("create objects that match each other", () => {
    expect(aPod().spec.nodeName).toBe(aNode().metadata.name);
    expect(aDeployment().spec.template.metadata?.labels).toEqual(aDeployment().spec.selector.matchLabels);
  });
});
