// For tests with an API server: a namespace, the CRD, operators, and pod statuses set by the test, because there is no node.
import { crdOf, createClient, isControlledBy, loadConfig, Pod, type Stored, systemEnvironment } from "@memhog/runtime";
import { type EventuallyOptions, eventually, startOperator } from "@memhog/runtime/testing";
import { testCluster } from "@memhog/simulator/testing";
import { Gordon } from "./api.ts";
import { gordons } from "./gordons.ts";
import { program } from "./program.ts";

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
  await cluster.apply(crdOf(Gordon));
  const client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig }),
    environment: systemEnvironment(),
    rateLimit: { qps: 1000, burst: 1000 },
  });
  const namespace = cluster.defaultNamespace;
  const closing = new AsyncDisposableStack();
  closing.use(cluster);
  closing.use(client);
  const find = (of: string) => client.find(Gordon, { namespace, name: of });
  const pods = async (of: string): Promise<readonly Stored<Pod>[]> => {
    const uid = (await find(of))?.metadata.uid ?? "none";
    return (await client.list(Pod, { namespace })).items.filter((pod) => isControlledBy(pod, uid));
  };
  return {
    ...{ cluster, client, namespace, find, pods },
    start: async ({ kubeconfig = cluster.kubeconfig, resyncMs = 200 } = {}) => {
      const controllers = [gordons({ image: "gordon:test", resyncMs })];
      return closing.use(await startOperator({ name: program.name, controllers, kubeconfig, namespaces: [namespace] }));
    },
    /** Applies a Gordon with this number of replicas. */
    ask: (of: string, replicas: number) =>
      client.apply(
        Gordon,
        { metadata: { namespace, name: of }, spec: { gordon: { replicas } } },
        { fieldManager: "test", force: true },
      ),
    /** Sets the status of a pod, as the kubelet would. */
    say: (pod: string, phase: "Running" | "Failed" | "Succeeded") =>
      client.patch(
        Pod,
        { namespace, name: pod },
        { type: "merge", body: { status: statusIn(phase) } },
        { subresource: "status" },
      ),
    /** Waits until the first condition of a Gordon has this reason. */
    says: (of: string, reason: string) =>
      eventually(
        () => find(of),
        (gordon) => gordon?.status?.conditions?.[0]?.reason === reason,
      ),
    /** Waits until exactly these pods exist and the status of the Gordon reports them. */
    settled: (of: string, replicas: number, options: EventuallyOptions = {}) =>
      eventually(
        async () => ({ pods: await pods(of), gordon: await find(of) }),
        ({ pods, gordon }) =>
          pods
            .map(({ metadata }) => metadata.name)
            .sort()
            .join() === namesOf(of, replicas).sort().join() &&
          pods.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
          gordon?.status?.replicas === replicas &&
          gordon.status.observedGeneration === gordon.metadata.generation,
        options,
      ),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

export const namesOf = (of: string, replicas: number) =>
  Array.from({ length: replicas }, (_, ordinal) => `gordon-${of}-${ordinal}`);

function statusIn(phase: string) {
  const at = "2026-01-01T00:00:00Z";
  const runs = phase === "Running";
  const state = runs ? { running: { startedAt: at } } : { terminated: { exitCode: 1, reason: "Error", finishedAt: at } };
  const container = { name: "gordon", ready: runs, restartCount: 0, image: "", imageID: "", state };
  const ready = { type: "Ready", status: runs ? "True" : "False", lastTransitionTime: at };
  return { phase, conditions: [ready], containerStatuses: [container] };
}
