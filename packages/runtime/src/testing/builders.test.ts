import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Namespace } from "../objects/kinds/core/namespace.ts";
import { defineResource } from "../schema/define-resource.ts";
import { aDeployment, aNode, anObject, aPod } from "./builders.ts";

describe("builders", () => {
  it("make objects as the API server would have stored them", () => {
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

  it("fill in the defaults of a kind of ours, and leave alone what is not valid", () => {
    const spec = z.object({ size: z.int(), color: z.enum(["red", "blue"]).default("red") });
    const Ball = defineResource({ group: "example.com", version: "v1", kind: "Ball", spec });
    expect(anObject(Ball, { spec: { size: 3 } }).spec).toEqual({ size: 3, color: "red" });
    expect(anObject(Ball, { spec: { size: 3, color: "blue" } }).spec).toEqual({ size: 3, color: "blue" });
    expect(anObject(Ball)).not.toHaveProperty("spec");
  });

  it("give no namespace to what has none", () => expect(anObject(Namespace).metadata).not.toHaveProperty("namespace"));

  it("lay what is given over the default, object by object, and replace lists", () => {
    const pod = aPod({ metadata: { name: "hungry" }, status: { phase: "Failed", containerStatuses: [] } });
    expect(pod.metadata).toMatchObject({ name: "hungry", namespace: "default" });
    expect(pod.status).toMatchObject({ phase: "Failed", qosClass: "Burstable", containerStatuses: [] });
    expect(pod.spec.containers[0]?.resources?.limits).toEqual({ memory: "384Mi" });
  });

  it("make the same object each time, and another identity for another name", () => {
    expect(aPod()).toEqual(aPod());
    expect(aPod({ metadata: { name: "other" } }).metadata.uid).not.toBe(aPod().metadata.uid);
    expect(aDeployment().metadata.uid).not.toBe(aPod().metadata.uid);
  });

  it("agree with each other", () => {
    expect(aPod().spec.nodeName).toBe(aNode().metadata.name);
    expect(aDeployment().spec.template.metadata?.labels).toEqual(aDeployment().spec.selector.matchLabels);
  });
});
