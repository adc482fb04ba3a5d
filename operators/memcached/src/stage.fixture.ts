// For tests with an API server: a namespace, the CRD, operators, and a fake kubelet that sets the status of pods, because there is no
// node.
import {
  type Client,
  crdOf,
  createClient,
  Deployment,
  Event,
  loadConfig,
  Pod,
  type Stored,
  systemEnvironment,
} from "@memhog/runtime";
import { type EventuallyOptions, eventually, startOperator } from "@memhog/runtime/testing";
import { testCluster } from "@memhog/simulator/testing";
import { Memcached } from "./api.ts";
import { memcacheds } from "./memcacheds.ts";
import { program } from "./program.ts";

/** The status that the fake kubelet sets. */
export type PodState = "Ready" | "ErrImagePull";

/** The part of a cluster that these tests use. */
interface SomeCluster extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly defaultNamespace: string;
  apply(...manifests: readonly object[]): Promise<unknown>;
}

/** On the simulator, or on real Kubernetes under `npm run test:real`. */
export const stage = async () => stageOn(await testCluster());

/** On the given cluster. */
export async function stageOn<C extends SomeCluster>(cluster: C) {
  await cluster.apply(crdOf(Memcached));
  const environment = systemEnvironment();
  const client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig }),
    environment,
    rateLimit: { qps: 1000, burst: 1000 },
  });
  const namespace = cluster.defaultNamespace;
  const closing = new AsyncDisposableStack();
  closing.use(cluster);
  closing.use(client);
  const undesired: string[] = []; // reported by all operators of the test
  const kubelet = fakeKubelet(client, namespace);
  closing.defer(kubelet.stop);
  return {
    ...{ cluster, client, namespace, kubelet, undesired, ...helpers(client, namespace) },
    start: async ({ kubeconfig = cluster.kubeconfig, resyncMs = 200 } = {}) => {
      const controllers = [memcacheds({ repository: "memcached", resyncMs, onUndesiredSize: () => undesired.push(namespace) })];
      return closing.use(await startOperator({ name: program.name, controllers, kubeconfig, namespaces: [namespace] }));
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Sets the status of every new pod, by default to ready. */
function fakeKubelet(client: Client, namespace: string) {
  const ending = new AbortController();
  const kubelet = { stateOf: (_pod: Stored<Pod>): PodState => "Ready", stop: async () => {} };
  const say = async (pod: Stored<Pod>) => {
    const podState = kubelet.stateOf(pod);
    const at = "2026-01-01T00:00:00Z";
    const ready = { type: "Ready", status: podState === "Ready" ? "True" : "False", lastTransitionTime: at };
    const state = podState === "Ready" ? { running: { startedAt: at } } : { waiting: { reason: podState } };
    const container = { name: "memcached", ready: podState === "Ready", restartCount: 0, image: "", imageID: "", state };
    const status = { phase: podState === "Ready" ? "Running" : "Pending", conditions: [ready], containerStatuses: [container] };
    const patch = { type: "merge", body: { status } } as const;
    await client.patch(Pod, { namespace, name: pod.metadata.name }, patch, { subresource: "status" }).catch(() => {}); // gone
  };
  const playing = eventually(
    async () => {
      const { items } = await client.list(Pod, { namespace });
      for (const pod of items.filter(({ status }) => status?.containerStatuses === undefined)) await say(pod);
    },
    () => false,
    { signal: ending.signal, timeoutMs: Number.POSITIVE_INFINITY, everyMs: 100 },
  ).catch(() => {});
  kubelet.stop = async () => {
    ending.abort(new Error("over"));
    await playing;
  };
  return kubelet;
}

/** Helpers that change and read Memcacheds. */
function helpers(client: Client, namespace: string) {
  const find = (of: string) => client.find(Memcached, { namespace, name: of });
  const says = (of: string, holds: (found: Stored<Memcached>) => boolean, options?: EventuallyOptions) =>
    eventually(
      () => find(of),
      (found) => found?.status?.observedGeneration === found?.metadata.generation && found !== undefined && holds(found),
      options,
    );
  return {
    ...{ find, says },
    /** Waits until the status reports exactly this number of servers. */
    settled: (of: string, size: number, options?: EventuallyOptions) =>
      says(
        of,
        ({ status }) =>
          status?.readyReplicas === size && status.nodes.length === size && reasonOf(status, "Progressing") === "Settled",
        options,
      ),
    deployment: (of: string) => client.find(Deployment, { namespace, name: of }),
    pods: async () =>
      (await client.list(Pod, { namespace })).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    notes: async () => (await client.list(Event, { namespace })).items.map(({ reason, note }) => `${reason}: ${note}`),
    /** Deletes a Memcached; with a finalizer it exists for a while longer. */
    remove: (of: string, options: { readonly propagationPolicy?: "Orphan" } = {}) =>
      client.delete(Memcached, { namespace, name: of }, options),
    gone: (of: string, options?: EventuallyOptions) =>
      eventually(
        () => find(of),
        (found) => found === undefined,
        options,
      ),
    /** Changes a Deployment as another client would. */
    patchDeployment: (of: string, body: object) => client.patch(Deployment, { namespace, name: of }, { type: "strategic", body }),
    /** Applies a Memcached. */
    ask: (of: string, spec: Partial<Memcached["spec"]>) =>
      client.apply(Memcached, { metadata: { namespace, name: of }, spec } as never, { fieldManager: "test", force: true }),
  };
}

export function reasonOf(status: Memcached["status"], type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.reason;
}
