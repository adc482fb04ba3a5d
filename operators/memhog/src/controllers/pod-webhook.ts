// The optional admission webhook: new pods start with the memory that their app has learned, instead of being raised once they run. It
// changes only pods that are being created, only memory, only upwards, and never a template. It fails open: if it is unavailable,
// slow or in doubt, the pod is created as it is, and the app controller raises it in place as soon as it runs.
//
// Every replica serves it from its caches, whether it leads or not. decide/start-size.ts makes the decision.
import { mutate, Pod, parseQuantity, type Runnable, type Stored } from "@memhog/runtime";
import type { CacheReader } from "@memhog/runtime/controller";
import { controllerOf } from "@memhog/runtime/objects";
import type { AdmissionWebhook } from "@memhog/runtime/webhook";
import { copyOfLabel, monitorAnnotation } from "../api/names.ts";
import { startSizes } from "../decide/start-size.ts";
import { grown, growth } from "../execute/resources.ts";
import type { ObservedApp, ObservedPod } from "../model/observed-app.ts";
import type { Change } from "../model/plan.ts";
import { appOf, appRef } from "../observe/app-of.ts";
import { AppMemoryView } from "../observe/kinds.ts";
import { monitorsOf, policyOf } from "../observe/monitors.ts";
import { type ObserveDeps, observe } from "../observe/observe.ts";
import { podFacts, podMetadata } from "../observe/pod-facts.ts";
import { type KeptPod, mostFreeOnNode, observedPod, podsOf } from "../observe/pods.ts";

type RunnableContext = Parameters<Runnable["start"]>[0];
type Reader = Pick<RunnableContext, "cached" | "client" | "environment">;
export type PodWebhookOptions = NonNullable<Parameters<typeof mutate>[2]>;

export interface PodWebhook {
  readonly webhook: AdmissionWebhook;
  /** Hands the caches to the webhook. Until they are synced, pods are created as they are. */
  readonly runnable: Runnable;
}

/** The API server does not call the webhook for other pods. Before Kubernetes 1.28 it does, and the webhook ignores them. */
const matchConditions = [
  {
    name: "monitored",
    expression: `has(object.metadata.annotations) && '${monitorAnnotation}' in object.metadata.annotations && object.metadata.annotations['${monitorAnnotation}'] == 'true'`,
  },
];

/**
 * @param nodes Nodes are watched. Otherwise requests stay as they are, since it is unknown whether a node has room for more.
 * @param options See `mutate`. By default only kube-system is excluded: the namespace of the operator need not be, since the webhook
 * fails open, and kustomize does not rename it in a selector.
 */
export function podWebhook(nodes: boolean, options: PodWebhookOptions = {}): PodWebhook {
  let reader: Reader | undefined;
  const webhook = mutate(
    Pod,
    (pod, { namespace, signal }) =>
      reader === undefined || namespace === undefined ? undefined : sized({ pod, namespace, signal, nodes }, reader),
    {
      operations: ["CREATE"],
      failurePolicy: "Ignore",
      timeoutSeconds: 2,
      matchConditions,
      excludeNamespaces: ["kube-system"],
      ...options,
    },
  );
  const start = async (context: RunnableContext) => {
    reader = context;
  };
  return { webhook, runnable: { name: "pod-webhook", needsLeaderElection: false, start } };
}

interface Admission {
  readonly pod: Pod;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly nodes: boolean;
}

/** The pod with the memory to start with; undefined if that is what it has. */
async function sized(admission: Admission, reader: Reader): Promise<Pod | undefined> {
  const { pod, nodes } = admission;
  const { cached } = reader;
  const kept = keptOf(admission);
  const app = kept && appOf(kept, cached);
  if (kept === undefined || app === undefined || cached.get(AppMemoryView, appRef(app)) === undefined) return undefined;
  const seen = await observe(appRef(app), contextOf(admission, reader), { ...noSamples, nodes });
  if (seen === undefined) return undefined;
  const policies = monitorsOf(app, cached, [...podsOf(app, cached), kept]).acting.map(policyOf);
  const starting = startingPod(pod, kept, { cached, nodes });
  const changes = changesFor({ ...seen, policies }, starting, nodes ? mostFreeOnNode(cached) : undefined);
  const more = growth(pod.spec, changes, ["limits", "requests"]);
  if (more === undefined) return undefined;
  const { initContainers } = pod.spec;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: grown(pod.spec.containers, more.containers),
      ...(initContainers && { initContainers: grown(initContainers, more.initContainers) }),
    },
  };
}

/**
 * The pod as the caches will keep it. Undefined for pods that are left alone: not annotated, unnamed without an owner, copies by
 * memhog itself, static pods, pods that a VPA manages, and pods with resources of their own, which bound those of the containers.
 */
function keptOf({ pod, namespace }: Admission): KeptPod | undefined {
  const { metadata = {}, spec } = pod;
  const isNamed = metadata.name !== undefined || controllerOf(pod) !== undefined;
  if (!isNamed || metadata.labels?.[copyOfLabel] !== undefined || spec.resources !== undefined) return undefined;
  const stored = { ...pod, metadata: { ...metadata, namespace, name: metadata.name ?? "", uid: "", resourceVersion: "" } };
  const facts = podFacts(stored as Stored<Pod>);
  const { watched } = facts;
  const isOurs = watched?.monitored === true && watched.vpa === undefined && watched.notResizable === undefined;
  return isOurs ? { apiVersion: "v1", kind: "Pod", metadata: podMetadata(stored as Stored<Pod>), facts } : undefined;
}

function contextOf({ signal }: Admission, { cached, client, environment }: Reader) {
  return { get: cached.get.bind(cached), lookup: cached.lookup.bind(cached), client, clock: environment.clock, signal };
}

/** A pod that does not run has no samples, and none are needed for what its app has learned. */
const noSamples: Omit<ObserveDeps, "nodes"> = {
  memory: { samplesOf: () => ({ samples: [], bad: 0 }), metrics: () => ({ available: true, freshForMs: 0 }) },
  raises: { ago: () => new Map(), since: () => 0 },
};

function startingPod(pod: Pod, kept: KeptPod, { cached, nodes }: { cached: CacheReader; nodes: boolean }): ObservedPod {
  const { memory } = noSamples;
  return { ...observedPod(kept, { cached, memory, metric: "WorkingSet", nodes }), qos: qosOf(pod) };
}

function changesFor(seen: ObservedApp, pod: ObservedPod, free: Parameters<typeof startSizes>[2]): readonly Change[] {
  const sizes = startSizes(seen, pod, free);
  return [...sizes].map(([container, to]) => ({ container, from: to, to }));
}

/** The API server computes the QoS class after admission. A container without requests was given those of its limits before. */
function qosOf({ spec: { containers, initContainers = [] } }: Pod): ObservedPod["qos"] {
  const isGuaranteed = [...containers, ...initContainers].every(({ resources: { limits, requests } = {} }) =>
    ["cpu", "memory"].every((name) => {
      const [limit, request] = [limits?.[name], requests?.[name] ?? limits?.[name]];
      return limit !== undefined && request !== undefined && parseQuantity(limit).equals(parseQuantity(request));
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
