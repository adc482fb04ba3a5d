// Objects for tests as the API server would store them: valid, with a UID, and with defaults. A test case states only the fields
// that matter to it:
//
//     aPod({ metadata: { name: "hungry" }, status: { phase: "Failed" } })
//
// The given fields are merged into the default object; lists are replaced. The same input creates the same object, including its
// UID, so that tests can compare whole objects.
import { createHash } from "node:crypto";
import { isRecord } from "../objects/diff.ts";
import { Node } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type Stored } from "../objects/object.ts";
import type { AnyResource } from "../schema/define-resource.ts";

/** A partial value, at any depth. Lists are complete. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

const creationTimestamp = "2026-01-01T00:00:00Z";

/**
 * Creates an object of any kind, by default named "example" in the namespace "default". For a kind of `defineResource`, the spec
 * has its defaults, as in a cluster.
 */
export function anObject<T extends KubernetesObject>(kind: Kind<T>, ...given: readonly DeepPartial<NoInfer<T>>[]): Stored<T> {
  const { metadata, ...rest } = given.reduce<Json>((under, over) => overlay(under, over as Json), {});
  const named = { name: "example", ...(kind.namespaced && { namespace: "default" }), ...(isRecord(metadata) ? metadata : {}) };
  const identity = { uid: uidOf(kind, named), resourceVersion: "1", generation: 1, creationTimestamp };
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { ...identity, ...named },
    ...rest,
    ...defaulted(kind, rest.spec),
  } as Stored<T>;
}

/** Leaves an invalid spec unchanged: a test may need it. */
function defaulted(kind: Kind & Partial<AnyResource>, spec: unknown = {}): Json {
  const parsed = kind.definition?.spec.safeParse(spec);
  return parsed?.success ? { spec: overlay(parsed.data, spec as Json) } : {};
}

/** Creates a running, ready pod with one container, "main": memory request 256Mi, limit 384Mi. */
export function aPod(given: DeepPartial<Pod> = {}): Stored<Pod> {
  const resources = { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "384Mi" } };
  const runs: DeepPartial<Pod> = {
    spec: { nodeName: "node-1", restartPolicy: "Always", containers: [{ name: "main", image: "example.com/main:1", resources }] },
    status: {
      phase: "Running",
      qosClass: "Burstable",
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: creationTimestamp }],
      containerStatuses: [
        {
          name: "main",
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: creationTimestamp } },
          allocatedResources: resources.requests,
          resources,
        },
      ],
    },
  };
  return anObject(Pod, runs, given);
}

/** Creates a ready node with 4 CPUs and 8Gi of memory. */
export function aNode(given: DeepPartial<Node> = {}): Stored<Node> {
  const room = { cpu: "4", memory: "8Gi", pods: "110" };
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: creationTimestamp } as const;
  return anObject(
    Node,
    { metadata: { name: "node-1" }, status: { capacity: room, allocatable: room, conditions: [ready] } },
    given,
  );
}

/** Creates a Deployment with three available pods and a completed rollout. */
export function aDeployment(given: DeepPartial<Deployment> = {}): Stored<Deployment> {
  const labels = { "app.kubernetes.io/name": "example" };
  const replicas = 3;
  const settled: DeepPartial<Deployment> = {
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/main:1" }] } },
    },
    status: { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas },
  };
  return anObject(Deployment, settled, given);
}

type Json = Readonly<Record<string, unknown>>;

function overlay(under: Json, over: Json): Json {
  const laid = Object.entries(over).map(([key, value]) => {
    const below = under[key];
    return [key, isRecord(below) && isRecord(value) ? overlay(below, value) : value] as const;
  });
  return { ...under, ...Object.fromEntries(laid) };
}

function uidOf({ group, kind }: Kind, { namespace, name }: Json): string {
  const hex = createHash("sha256").update(`${group}/${kind}/${namespace}/${name}`).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");
}
