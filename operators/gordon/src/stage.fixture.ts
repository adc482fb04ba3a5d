// For tests on an API server: a namespace with the kind in it, operators that can be killed at any of their writes, and
// somebody who plays the kubelet where there is no node.
import { testCluster } from "@memhog/localcluster/testing";
import { connect, crdOf, isControlledBy, operator, Pod, type Stored, silentLogger, systemEnvironment } from "@memhog/runtime";
import { type EventuallyOptions, eventually, type Journal, type JournalEntry, journaledClient } from "@memhog/runtime/testing";
import { Gordon } from "./api.ts";
import { gordons } from "./gordons.ts";
import { name } from "./manifests.ts";

/** An operator as a process of its own would be: its own client, its own caches. */
export interface Instance extends AsyncDisposable {
  readonly journal: Journal;
  /** How often it has looked at an object, all of them together. */
  reconciles(): Promise<number>;
  /** From its nth write on, nothing that it says is heard, and it hears nothing. Resolves when that has come. */
  dieAt(write: number, when: Moment): Promise<void>;
  stop(): Promise<void>;
}

async function startInstance(kubeconfig: string, namespace: string): Promise<Instance> {
  const client = await journaledClient({ kubeconfig });
  const ending = new AbortController();
  const program = operator({
    ...{ name, controllers: [gordons({ image: "gordon:test", resyncMs: 200 })], namespaces: [namespace], client },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, log: silentLogger },
    process: { onStop: () => () => {}, onForgotten: () => () => {}, exit: () => {} },
  });
  const running = program.run(ending.signal);
  const reconciles = async () => sumOf(await program.metrics.text());
  const stop = async () => {
    ending.abort();
    await running.catch(() => {}); // one that was killed does not end in order
    await client.close();
  };
  return {
    journal: client.journal,
    reconciles,
    dieAt: (write: number, when: Moment) => dieAt(client.journal, write, when),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Whether the server still gets the write. */
export type Moment = "before" | "after";

function dieAt(journal: Journal, write: number, when: Moment): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let writes = 0;
  journal.fault = (call) => {
    if (writes < write && !isWrite(call)) return undefined;
    writes += 1;
    if (writes < write) return undefined;
    resolve();
    return { kind: writes === write && when === "after" ? "lose" : "vanish" };
  };
  return promise;
}

/** The sum of the counters of reconciles. */
function sumOf({ body }: { readonly body: string }): number {
  const counts = body.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Events are told in the background, and nothing depends on them. */
const isWrite = ({ method, path }: JournalEntry) => method !== "GET" && !path.includes("/events.k8s.io/");

export async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(Gordon));
  const client = await connect({
    kubeconfig: cluster.kubeconfig,
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
    start: async (kubeconfig = cluster.kubeconfig) => closing.use(await startInstance(kubeconfig, namespace)),
    /** Asks for so many, as kubectl apply would. */
    ask: (of: string, replicas: number) =>
      client.apply(
        Gordon,
        { metadata: { namespace, name: of }, spec: { gordon: { replicas } } },
        { fieldManager: "test", force: true },
      ),
    /** Plays the kubelet. */
    say: (pod: string, phase: "Running" | "Failed" | "Succeeded") =>
      client.patch(
        Pod,
        { namespace, name: pod },
        { type: "merge", body: { status: statusIn(phase) } },
        { subresource: "status" },
      ),
    /** Waits until there are exactly so many, and the gordon says so. */
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
