// Hooks in the shapes that the examples of metacontroller have made popular, written as its users write them: plain functions from
// JSON to JSON that know nothing of this package.
import { z } from "zod";
import { PersistentVolumeClaim, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { ReplicaSet, StatefulSet } from "../objects/kinds/workloads.ts";
import { defineResource } from "../schema/define-resource.ts";
import { labelSelector, preserveUnknown } from "../schema/fields.ts";
import { compositeController } from "./composite.ts";
import { decoratorController } from "./decorator.ts";
import { type CompositeRequest, type CompositeResponse, type DecoratorRequest, type HookObject, nodeHook } from "./hook.ts";

const group = "hooks-test.example.com";
const version = "v1";
const anything = () => preserveUnknown();
/** A status with any fields, as CRDs written for metacontroller have it. */
const openStatus = z.looseObject({});

/** Two ReplicaSets; a Service points to one of them, and switches when the other is ready. */
export const BlueGreen = defineResource({
  ...{ group, version, kind: "BlueGreen" },
  spec: z.object({ replicas: z.int(), image: z.string().max(100), selector: labelSelector() }),
  status: openStatus,
});

function replicaSet(parent: HookObject, color: string, { image, replicas }: HookObject): HookObject {
  const labels = { ...parent.spec.selector.matchLabels, color };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }] } };
  const metadata = { name: `${parent.metadata.name}-${color}`, labels };
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** In the convention of metacontroller's Node.js server. */
async function syncBlueGreen({ request }: { request: { body: HookObject } }) {
  const { parent, children } = request.body;
  const name = parent.metadata.name;
  const service = children["Service.v1"][name];
  const active = service?.spec.selector.color ?? "blue";
  const idle = active === "blue" ? "green" : "blue";
  const sets = children["ReplicaSet.apps/v1"];
  const imageOf = (color: string) => sets[`${name}-${color}`]?.spec.template.spec.containers[0].image;
  const upToDate = imageOf(active) === undefined || imageOf(active) === parent.spec.image;
  const next = upToDate ? active : idle;
  const ready = sets[`${name}-${next}`]?.status?.readyReplicas ?? 0;
  const switched = next !== active && imageOf(next) === parent.spec.image && ready >= parent.spec.replicas ? next : active;
  const other = switched === "blue" ? "green" : "blue";
  const spec = (color: string) => {
    if (color === next) return { image: parent.spec.image, replicas: parent.spec.replicas };
    return { image: imageOf(color) ?? parent.spec.image, replicas: color === switched ? parent.spec.replicas : 0 };
  };
  const selector = { ...parent.spec.selector.matchLabels, color: switched };
  const labels = parent.spec.selector.matchLabels;
  const service2 = { apiVersion: "v1", kind: "Service", metadata: { name, labels }, spec: { selector, ports: [{ port: 80 }] } };
  const desired = [service2, replicaSet(parent, switched, spec(switched)), replicaSet(parent, other, spec(other))];
  return { status: 200, headers: {}, body: { status: { active: switched, ready }, children: desired } };
}

export const blueGreens = compositeController({
  name: "bluegreen-controller",
  parent: { kind: BlueGreen },
  children: [
    { kind: Service, updateStrategy: { method: "InPlace" } },
    { kind: ReplicaSet, updateStrategy: { method: "InPlace" } },
  ],
  hooks: { sync: nodeHook(syncBlueGreen) },
});

/** Like a StatefulSet: pods with ordinals and claims, made and removed in order. */
export const CatSet = defineResource({
  ...{ group, version, kind: "CatSet" },
  spec: z.object({ replicas: z.int(), selector: labelSelector(), template: anything() }),
  status: openStatus,
});

const isReady = (pod: HookObject | undefined) =>
  pod?.status?.conditions?.some((one: HookObject) => one.type === "Ready" && one.status === "True") === true;

function syncCatSet({ parent, children, finalizing }: CompositeRequest): CompositeResponse {
  const pods = children["Pod.v1"] ?? {};
  const name = (ordinal: number) => `${parent.metadata.name}-${ordinal}`;
  const ordinals = Object.keys(pods).map((pod) => Number(pod.split("-").at(-1)));
  const goal = finalizing ? 0 : parent.spec.replicas;
  const made: number[] = [];
  for (let ordinal = 0; ordinal < goal; ordinal += 1) {
    made.push(ordinal);
    if (!isReady(pods[name(ordinal)])) break; // one at a time
  }
  const most = Math.max(-1, ...ordinals);
  // Scaling down keeps all but the last; a rollout may find earlier ones that are not ready.
  for (const ordinal of ordinals) if (ordinal < goal || ordinal < most) made.push(ordinal);
  const wanted = [...new Set(made)].sort((a, b) => b - a);
  const labels = parent.spec.template.metadata.labels;
  const volumes = (ordinal: number) => [{ name: "data", persistentVolumeClaim: { claimName: `data-${name(ordinal)}` } }];
  const pod = (ordinal: number) => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: name(ordinal), labels } },
    spec: { ...parent.spec.template.spec, hostname: name(ordinal), volumes: volumes(ordinal) },
  });
  const claim = (ordinal: number) => ({
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: `data-${name(ordinal)}`, labels } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const kept = new Set([
    ...wanted,
    ...Object.keys(children["PersistentVolumeClaim.v1"] ?? {}).map((one) => Number(one.split("-").at(-1))),
  ]);
  return {
    status: { replicas: ordinals.length, ready: Object.values(pods).filter(isReady).length },
    children: [...[...kept].map(claim), ...wanted.map(pod)],
    finalized: finalizing && ordinals.length === 0,
  };
}

export const catSets = compositeController({
  name: "catset-controller",
  parent: { kind: CatSet, revisionHistory: { fieldPaths: ["spec.template"] } },
  children: [
    {
      kind: Pod,
      updateStrategy: { method: "RollingRecreate", statusChecks: { conditions: [{ type: "Ready", status: "True" }] } },
    },
    { kind: PersistentVolumeClaim },
  ],
  hooks: { sync: syncCatSet, finalize: syncCatSet },
});

/** Pods with an index, each of which runs to its end once. Nobody has to think of labels. */
export const IndexedJob = defineResource({
  ...{ group, version, kind: "IndexedJob" },
  spec: z.object({ completions: z.int(), parallelism: z.int(), image: z.string().max(100) }),
  status: openStatus,
});

export const indexedJobs = compositeController({
  name: "indexedjob-controller",
  parent: { kind: IndexedJob },
  children: [{ kind: Pod }],
  generateSelector: true,
  hooks: {
    sync({ parent, children }) {
      const pods = children["Pod.v1"] ?? {};
      const { completions, parallelism, image } = parent.spec;
      const name = (index: number) => `${parent.metadata.name}-${index}`;
      const phase = (index: number) => pods[name(index)]?.status?.phase;
      const indexes = Array.from({ length: completions }, (_, index) => index);
      const ended = indexes.filter((index) => phase(index) === "Succeeded");
      const open = indexes.filter((index) => !ended.includes(index)).slice(0, parallelism);
      const pod = (index: number) => ({
        ...{ apiVersion: "v1", kind: "Pod", metadata: { name: name(index) } },
        spec: {
          restartPolicy: "OnFailure",
          containers: [{ name: "main", image, env: [{ name: "INDEX", value: String(index) }] }],
        },
      });
      return { status: { succeeded: ended.length, active: open.length }, children: [...ended, ...open].map(pod) };
    },
  },
});

/** A Service for every pod of a StatefulSet that asks for it by annotation. */
export const servicePerPod = decoratorController({
  name: "service-per-pod",
  resources: [
    {
      kind: StatefulSet,
      annotationSelector: { matchExpressions: [{ key: "service-per-pod", operator: "Exists" }] },
    },
  ],
  attachments: [{ kind: Service, updateStrategy: { method: "InPlace" } }],
  hooks: {
    sync: ({ object }: DecoratorRequest) => ({
      annotations: { "services-made": String(object.spec.replicas) },
      attachments: Array.from({ length: object.spec.replicas }, (_, index) => {
        const name = `${object.metadata.name}-${index}`;
        const selector = { "statefulset.kubernetes.io/pod-name": name };
        const ports = [{ port: Number(object.metadata.annotations["service-per-pod"]) }];
        return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { selector, ports } };
      }),
    }),
    finalize: ({ attachments }: DecoratorRequest) => ({
      annotations: { "services-made": null },
      attachments: [],
      finalized: Object.keys(attachments["Service.v1"] ?? {}).length === 0,
    }),
  },
});
