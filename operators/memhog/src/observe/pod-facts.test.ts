import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { annotated } from "./facts.fixture.ts";
import { podFacts, podMetadata } from "./pod-facts.ts";

describe("pod facts", () => {
  it("contain only the request and the health of a pod without the annotation", () => {
    const pod = aPod({ metadata: { labels: { app: "web" }, annotations: { note: "long" } } });
    const health = { createdAtMs: Date.UTC(2026, 0, 1), phase: "Running", ready: true, deleting: false };
    expect(podFacts(pod)).toEqual({ ...health, node: "node-1", requested: mib(256), watched: undefined });
    expect(podMetadata(pod)).toEqual({ namespace: "default", name: "example", uid: pod.metadata.uid, resourceVersion: "1" });
  });

  it("contain everything a decision needs of an annotated pod", () => {
    expect(podFacts(annotated()).watched).toMatchObject({
      ...{ monitored: true, qos: "Burstable", containers: [{ name: "main" }] },
      ...{ resize: { state: "none" }, notResizable: undefined, copyOf: undefined, vpa: undefined },
    });
  });

  it('E4: distinguish the annotation "false" from no annotation', () => {
    expect(podFacts(annotated({}, { [monitorAnnotation]: "false" })).watched).toMatchObject({ monitored: false });
  });

  it("contain the original of a copy and its app", () => {
    const copy = annotated({ metadata: { labels: { [copyOfLabel]: "uid-1" } } }, { [appAnnotation]: "hungry" });
    expect(podFacts(copy).watched?.copyOf).toBe("uid-1");
    expect(podMetadata(copy).annotations).toEqual({ [appAnnotation]: "hungry" });
  });

  it.each([
    { name: "a static pod", pod: annotated({}, { "kubernetes.io/config.mirror": "x" }), why: "a static pod" },
    { name: "a Windows pod", pod: annotated({ spec: { os: { name: "windows" } } }), why: "a Windows pod" },
  ])("contain the reason why a pod can never be resized: $name", ({ pod, why }) =>
    expect(podFacts(pod).watched?.notResizable).toBe(why),
  );

  it.each([
    {
      vpaUpdates: "Pod resources updated by web-vpa: container 0: cpu request, memory request",
      vpa: "VerticalPodAutoscaler/web-vpa",
    },
    { vpaUpdates: "Pod resources updated by web-vpa: container 0: cpu request", vpa: undefined },
    { vpaObservedContainers: "main", vpa: "VerticalPodAutoscaler" },
  ])("F1: contain the VPA that manages the memory of the pod: %j", ({ vpa, ...annotations }) => {
    expect(podFacts(annotated({}, annotations)).watched?.vpa).toBe(vpa);
  });

  it("E3: do not throw for a malformed pod", () => {
    const odd = annotated({ spec: { containers: [{ name: "main", resources: { limits: { memory: "-1Gi" } } }] }, status: {} });
    expect(podFacts(odd).watched?.containers[0]?.limit).toBeUndefined();
  });
});
