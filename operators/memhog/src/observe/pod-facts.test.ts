import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { annotated } from "./facts.fixture.ts";
import { podFacts, podMetadata } from "./pod-facts.ts";

const device = { name: "main", volumeDevices: [{ name: "data", devicePath: "/dev/data" }] };
const initialized = ({ containers, volumes }: { readonly containers: object; readonly volumes: object }) => ({
  ...{ volumes, initContainers: containers, containers: [{ name: "main" }] },
});

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

  it("contain the memory of the whole pod, if it has any", () => {
    const withResources = (resources: object) => {
      const pod = annotated();
      return podFacts({ ...pod, spec: { ...pod.spec, resources } } as typeof pod).watched?.podLevel;
    };
    expect(withResources({ limits: { memory: "1Gi" } })).toEqual({ limit: mib(1024), request: undefined });
    expect(withResources({ limits: { cpu: "1" } })).toBeUndefined();
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

  const mounted = (volume: object, mount: object = {}) => ({
    volumes: [{ name: "data", ...volume }],
    containers: [{ name: "main", volumeMounts: [{ name: "data", mountPath: "/data", ...mount }] }],
  });
  const claim = { persistentVolumeClaim: { claimName: "data" } };
  it.each([
    { name: "no volume", spec: {}, risk: undefined },
    { name: "restartPolicy Never", spec: { restartPolicy: "Never" }, risk: "RunsOnce" },
    { name: "restartPolicy OnFailure", spec: { restartPolicy: "OnFailure" }, risk: "RunsOnce" },
    { name: "a claim", spec: mounted(claim), risk: "WritesVolume" },
    { name: "a claim mounted by an init container", spec: initialized(mounted(claim)), risk: "WritesVolume" },
    { name: "a claim as a block device", spec: { ...mounted(claim), containers: [device] }, risk: "WritesVolume" },
    { name: "a claim that nobody mounts", spec: { volumes: mounted(claim).volumes }, risk: undefined },
    { name: "a claim mounted read-only", spec: mounted(claim, { readOnly: true }), risk: undefined },
    {
      name: "a read-only claim",
      spec: mounted({ persistentVolumeClaim: { claimName: "data", readOnly: true } }),
      risk: undefined,
    },
    { name: "a hostPath", spec: mounted({ hostPath: { path: "/var/data" } }), risk: "WritesVolume" },
    { name: "a volume of an unknown kind", spec: mounted({ futureFS: { server: "x" } }), risk: "WritesVolume" },
    { name: "scratch space", spec: mounted({ emptyDir: {} }), risk: undefined },
    { name: "a ConfigMap", spec: mounted({ configMap: { name: "x" } }), risk: undefined },
  ])("D6: contain the reason why a copy must not run next to the pod: $name", ({ spec, risk }) =>
    expect(podFacts(annotated({ spec: spec as object })).watched?.copyRisk).toBe(risk),
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
