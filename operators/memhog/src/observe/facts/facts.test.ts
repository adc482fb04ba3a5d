import {
  CronJob,
  DaemonSet,
  type Deployment,
  HorizontalPodAutoscaler,
  LimitRange,
  type Pod,
  type PodCondition,
  ReplicaSet,
  ResourceQuota,
  StatefulSet,
} from "@memhog/runtime";
import { aDeployment, aNode, anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../../api/names.ts";
import { mib } from "../../model/bytes.ts";
import { containersOf } from "./container-facts.ts";
import { autoscalerFacts, quotaFacts, rangeFacts } from "./namespace-facts.ts";
import { nodeFacts } from "./node-facts.ts";
import { cronJobFacts, daemonSetFacts, deploymentFacts, replicaSetFacts, statefulSetFacts } from "./owner-facts.ts";
import { podFacts, podMetadata } from "./pod-facts.ts";
import { podRequest } from "./pod-request.ts";
import { resizeIn } from "./resize-facts.ts";

const memory = (request: string, limit = request) => ({ requests: { memory: request }, limits: { memory: limit } });
const container = (name: string, request: string, more: object = {}) => ({ name, resources: memory(request), ...more });
const sidecar = { restartPolicy: "Always" } as const;
const annotated = (more: DeepPartial<Pod> = {}, annotations: object = {}) =>
  aPod({ ...more, metadata: { ...more.metadata, annotations: { [monitorAnnotation]: "true", ...annotations } } });

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

describe("what is kept of containers", () => {
  it("is what is asked for, what is in force, and since when it runs", () => {
    expect(containersOf(aPod())).toEqual([
      {
        name: "main",
        sidecar: false,
        limit: mib(384),
        request: mib(256),
        appliedLimit: mib(384),
        appliedRequest: mib(256),
        restartsOnResize: false,
        running: true,
        life: { id: undefined, startedAtMs: Date.UTC(2026, 0, 1) },
        restarts: 0,
        oomKill: undefined,
      },
    ]);
  });

  it("leaves out init containers, and keeps sidecars", () => {
    const spec = {
      initContainers: [container("init", "1Mi"), container("proxy", "2Mi", sidecar)],
      containers: [container("main", "3Mi")],
    };
    expect(containersOf(aPod({ spec })).map(({ name, sidecar: is }) => [name, is])).toEqual([
      ["proxy", true],
      ["main", false],
    ]);
  });

  it("says nothing about what is in force where the kubelet says nothing (Kubernetes < 1.33)", () => {
    const status = { containerStatuses: [{ name: "main", restartCount: 0, state: { running: {} } }] };
    expect(containersOf(aPod({ status }))[0]).toMatchObject({
      appliedLimit: undefined,
      running: true,
      life: { startedAtMs: undefined },
    });
  });

  it("knows who would be restarted by a resize", () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const [found] = containersOf(aPod({ spec: { containers: [container("main", "1Mi", { resizePolicy })] } }));
    expect(found?.restartsOnResize).toBe(true);
  });

  const terminated = { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-01-01T00:01:00Z" };
  const atMs = Date.UTC(2026, 0, 1, 0, 1);
  const running = { running: { startedAt: "2026-01-01T00:02:00Z" } };
  it.each([
    { name: "it lies dead", status: { state: { terminated }, restartCount: 2 }, kill: { restart: 2, atMs, stillDown: true } },
    {
      name: "it waits in back-off",
      status: { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated }, restartCount: 2 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "it runs again",
      status: { state: running, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: false },
    },
    {
      name: "it ended in another way since",
      status: { state: { terminated: { exitCode: 1, reason: "Error" } }, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "it was never killed for lack of memory",
      status: { state: running, lastState: { terminated: { exitCode: 137, reason: "Error" } }, restartCount: 1 },
      kill: undefined,
    },
  ])("G2: a kill has one number, whether $name", ({ status, kill }) => {
    const pod = aPod({ status: { containerStatuses: [{ name: "main", ...status }] } });
    expect(containersOf(pod)[0]?.oomKill).toEqual(kill);
  });
});

describe("what the kubelet says about a resize", () => {
  const condition = (type: string, reason: string, more: Partial<PodCondition> = {}): PodCondition => ({
    ...{ type, reason, status: "True", message: "why" },
    ...more,
  });
  const pending = (reason: string, more: Partial<PodCondition> = {}) => condition("PodResizePending", reason, more);
  const message = "why";
  it.each([
    { name: "nothing", status: { observedGeneration: 2 }, is: { state: "none" } },
    { name: "Deferred", status: { conditions: [pending("Deferred")] }, is: { state: "deferred", message } },
    { name: "Infeasible", status: { conditions: [pending("Infeasible")] }, is: { state: "infeasible", message } },
    { name: "in progress", status: { conditions: [condition("PodResizeInProgress", "")] }, is: { state: "inProgress", message } },
    { name: "an error", status: { conditions: [condition("PodResizeInProgress", "Error")] }, is: { state: "error", message } },
    {
      name: "pending beside one in progress",
      status: { conditions: [condition("PodResizeInProgress", ""), pending("Deferred")] },
      is: { state: "deferred", message },
    },
    {
      name: "a condition that no longer holds",
      status: { conditions: [pending("Deferred", { status: "False" })] },
      is: { state: "none" },
    },
    {
      name: "a condition about an older spec",
      status: { observedGeneration: 2, conditions: [pending("Infeasible", { observedGeneration: 1 })] },
      is: { state: "none" },
    },
    {
      name: "a status of an older spec",
      status: { observedGeneration: 1, conditions: [pending("Infeasible")] },
      is: { state: "inProgress", message: "the kubelet has not seen it yet" },
    },
    { name: "Deferred, in the words of 1.32", status: { resize: "Deferred" as const }, is: { state: "deferred" } },
  ])("is understood: $name", ({ status, is }) => expect(resizeIn(status, 2)).toEqual(is));
});

describe("what is kept of a pod", () => {
  it("is only its room and its health, unless it asks for us", () => {
    const pod = aPod({ metadata: { labels: { app: "web" }, annotations: { note: "long" } } });
    const health = { createdAtMs: Date.UTC(2026, 0, 1), phase: "Running", ready: true, deleting: false };
    expect(podFacts(pod)).toEqual({ ...health, node: "node-1", requested: mib(256), watched: undefined });
    expect(podMetadata(pod)).toEqual({ namespace: "default", name: "example", uid: pod.metadata.uid, resourceVersion: "1" });
  });

  it("is everything a decision rests on, if it does", () => {
    expect(podFacts(annotated()).watched).toMatchObject({
      ...{ monitored: true, qos: "Burstable", containers: [{ name: "main" }] },
      ...{ resize: { state: "none" }, notResizable: undefined, copyOf: undefined, vpa: undefined },
    });
  });

  it('E4: the annotation "false" is seen, and is not the same as none', () => {
    expect(podFacts(annotated({}, { [monitorAnnotation]: "false" })).watched).toMatchObject({ monitored: false });
  });

  it("is which pod it is a copy of, and which app it belongs to", () => {
    const copy = annotated({ metadata: { labels: { [copyOfLabel]: "uid-1" } } }, { [appAnnotation]: "hungry" });
    expect(podFacts(copy).watched?.copyOf).toBe("uid-1");
    expect(podMetadata(copy).annotations).toEqual({ [appAnnotation]: "hungry" });
  });

  it.each([
    { name: "a static pod", pod: annotated({}, { "kubernetes.io/config.mirror": "x" }), why: "a static pod" },
    { name: "a Windows pod", pod: annotated({ spec: { os: { name: "windows" } } }), why: "a Windows pod" },
  ])("is why it can never be resized: $name", ({ pod, why }) => expect(podFacts(pod).watched?.notResizable).toBe(why));

  it.each([
    {
      vpaUpdates: "Pod resources updated by web-vpa: container 0: cpu request, memory request",
      vpa: "VerticalPodAutoscaler/web-vpa",
    },
    { vpaUpdates: "Pod resources updated by web-vpa: container 0: cpu request", vpa: undefined },
    { vpaObservedContainers: "main", vpa: "VerticalPodAutoscaler/" },
  ])("F1: is which VPA has its hands on it: %j", ({ vpa, ...annotations }) => {
    expect(podFacts(annotated({}, annotations)).watched?.vpa).toBe(vpa);
  });

  it("E3: one that makes no sense does not throw", () => {
    const odd = annotated({ spec: { containers: [{ name: "main", resources: { limits: { memory: "-1Gi" } } }] }, status: {} });
    expect(podFacts(odd).watched?.containers[0]?.limit).toBeUndefined();
  });
});

describe("what is kept of owners", () => {
  const template = { spec: { initContainers: [container("proxy", "2Mi", sidecar)], containers: [container("main", "3Mi")] } };
  const done = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3 };
  const deployment = (given: DeepPartial<Deployment>) => deploymentFacts(aDeployment(given));

  it("is the memory of the template, sidecars included", () => {
    expect(deployment({ spec: { template } })).toEqual({
      containers: [
        { name: "proxy", limit: mib(2), request: mib(2) },
        { name: "main", limit: mib(3), request: mib(3) },
      ],
      ...{ replicas: 3, readyReplicas: 3, rolledOut: true, replacesPods: true },
    });
  });

  it.each([
    { name: "not seen by its controller", status: { ...done, observedGeneration: 0 } },
    { name: "with old pods left", status: { ...done, updatedReplicas: 2 } },
    { name: "with pods too many", status: { ...done, replicas: 4 } },
    { name: "with pods that are not ready", status: { ...done, readyReplicas: 2 } },
  ])("a Deployment is not rolled out $name", ({ status }) => expect(deployment({ status }).rolledOut).toBe(false));

  it.each([
    {
      name: "is late",
      given: {
        status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" }] },
      },
      why: "late",
    },
    {
      name: "may make no pods",
      given: { status: { conditions: [{ type: "ReplicaFailure", status: "True", message: "quota" }] } },
      why: "quota",
    },
    { name: "is paused", given: { spec: { paused: true } }, why: "the Deployment is paused" },
  ] as const)("a Deployment that $name is stalled", ({ given, why }) => expect(deployment(given).stalled).toBe(why));

  it("a StatefulSet replaces pods itself unless it is told not to; a partition holds it back", () => {
    const spec = { replicas: 3, template };
    const set = (updateStrategy: object) =>
      statefulSetFacts(anObject(StatefulSet, { spec: { ...spec, updateStrategy }, status: done }));
    expect(set({})).toMatchObject({ replacesPods: true, rolledOut: true });
    expect(set({ type: "OnDelete" })).toMatchObject({ replacesPods: false });
    expect(set({ rollingUpdate: { partition: 2 } }).stalled).toContain("below 2");
  });

  it("a DaemonSet has as many replicas as nodes", () => {
    const counts = { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 };
    const set = (updated: number) => {
      const status = { ...counts, observedGeneration: 1, updatedNumberScheduled: updated };
      return daemonSetFacts(anObject(DaemonSet, { spec: { template }, status }));
    };
    expect(set(2)).toMatchObject({ replicas: 2, readyReplicas: 2, rolledOut: true, replacesPods: true });
    expect(set(1).rolledOut).toBe(false);
  });

  it("a ReplicaSet leaves its pods as they are", () => {
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1 };
    expect(replicaSetFacts(anObject(ReplicaSet, { spec: { template }, status }))).toMatchObject({
      replacesPods: false,
      rolledOut: true,
    });
  });

  it("a CronJob has nothing to roll out: its next run is made from the template", () => {
    const spec = { schedule: "* * * * *", jobTemplate: { spec: { template } } };
    expect(cronJobFacts(anObject(CronJob, { spec }))).toMatchObject({
      replicas: 0,
      rolledOut: true,
      containers: [{}, { name: "main" }],
    });
  });
});

describe("what is kept of a namespace's bounds", () => {
  it("D5: LimitRanges, as far as memory goes", () => {
    const limits = [
      { type: "Container", max: { memory: "1Gi", cpu: "2" }, maxLimitRequestRatio: { memory: "1500m" } },
      { type: "Pod", max: { memory: "2Gi" } },
      { type: "Container", max: { cpu: "1" } },
      { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
    ];
    expect(rangeFacts(anObject(LimitRange, { spec: { limits } }))).toEqual([
      { per: "Container", max: mib(1024), maxRatio: 1.5 },
      { per: "Pod", max: mib(2048), maxRatio: undefined },
    ]);
  });

  const hard = { "limits.memory": "4Gi", memory: "2Gi", pods: "10" };
  it.each([
    { name: "all pods", spec: { hard }, counts: true },
    { name: "pods that are not BestEffort", spec: { hard, scopes: ["NotBestEffort"] }, counts: true },
    { name: "BestEffort pods", spec: { hard, scopes: ["BestEffort"] }, counts: false },
    {
      name: "pods of a priority",
      spec: {
        hard,
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" as const, values: ["high"] }] },
      },
      counts: false,
    },
  ])("D5: a ResourceQuota for $name counts: $counts", ({ spec, counts }) => {
    const quota = anObject(ResourceQuota, { spec, status: { hard, used: { "limits.memory": "1Gi", memory: "512Mi" } } });
    const both = [
      { of: "limits", hard: mib(4096), used: mib(1024) },
      { of: "requests", hard: mib(2048), used: mib(512) },
    ];
    expect(quotaFacts(quota)).toEqual(counts ? both : []);
  });

  it.each([
    { metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "Utilization" } } }], is: true },
    {
      metrics: [
        { type: "ContainerResource", containerResource: { name: "memory", container: "a", target: { type: "Utilization" } } },
      ],
      is: true,
    },
    { metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "AverageValue" } } }], is: false },
    { metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }], is: false },
  ] as const)("F1: an HPA that goes by %j minds the request: $is", ({ metrics, is }) => {
    const spec = { maxReplicas: 5, scaleTargetRef: { kind: "Deployment", name: "web" }, metrics };
    expect(autoscalerFacts(anObject(HorizontalPodAutoscaler, { spec }))).toEqual({
      target: "Deployment/web",
      byMemoryUtilization: is,
    });
  });
});

it("of a node its allocatable memory and the version of its kubelet are kept, and no heartbeat", () => {
  const nodeInfo = { kubeletVersion: "v1.36.1" };
  expect(nodeFacts(aNode({ status: { nodeInfo } }))).toEqual({ allocatable: mib(8192), kubeletMinor: 36 });
  expect(nodeFacts(aNode())).toEqual({ allocatable: mib(8192), kubeletMinor: undefined });
});
