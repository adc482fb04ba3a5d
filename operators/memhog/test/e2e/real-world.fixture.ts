// Runs the operator on a real cluster: memory hogs in real containers, a kubelet that measures and resizes them, and a real
// Prometheus. Each test has a namespace and starts its own operators. Tests of one file run concurrently, because most of their
// time is spent waiting for measurements.
import { hogPod, loadHog } from "@memhog/hog";
import { type Cluster, type EventuallyOptions, type KubernetesObject, startCluster } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { crdOf, createClient, type Kind, loadConfig, systemEnvironment, type KubernetesObject as Watched } from "@memhog/runtime";
import { type OperatorUnderTest, startOperator } from "@memhog/runtime/testing";
import { AppMemory } from "../../src/api/app-memory.ts";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { operatorName } from "../../src/api/names.ts";
import type { Pass } from "../../src/controllers/apps.ts";
import { memhogControllers } from "../../src/memhog.ts";
import { httpTransport } from "../../src/observe/prometheus/http-transport.ts";
import { recordWatch, type WatchLog } from "./watch-log.fixture.ts";

type Cinema = Pick<Cluster & TestCluster, keyof Cluster & keyof TestCluster>;

/** Longer than a raise takes on a busy machine: the kubelet measures every 15 s, and a rollout takes time. */
export const patience = { timeoutMs: 240_000 };
/** Timeout for `it`: several such waits. */
export const longTest = { timeout: 600_000 };

/** Clusters before Kubernetes 1.33 cannot resize in place: `npm run test:real -- --kubernetes 1.32`. */
export const resizesInPlace = Number((process.env.LOCALCLUSTER_KUBERNETES || "1.99").split(".")[1]) >= 33;

/** For beforeAll: installs the image of the memory hog and the CRDs in the shared cluster. */
export async function furnish(): Promise<void> {
  await using cluster = await testCluster({ nodes: "real" });
  await furnished(cluster);
}

/** A separate cluster, for tests that break it or need the default scrape interval. */
export async function ownCluster(): Promise<Cluster> {
  return furnished(await startCluster({ nodes: "real", prometheus: { scrapeInterval: "5s" } }));
}

async function furnished<C extends Cinema>(cluster: C): Promise<C> {
  await loadHog(cluster);
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  return cluster;
}

export interface OperateOptions {
  /** The address of Prometheus. @default that of the cluster */
  readonly prometheus?: string;
}

/** A running operator and its decisions. */
export interface Operating extends OperatorUnderTest {
  /** The outcome of every reconcile of every app. */
  readonly passes: readonly Pass[];
  /** The reasons of its decisions about the containers of a pod, one per reconcile. */
  reasonsFor(pod: string): readonly string[];
}

/** A namespace in the shared cluster. */
export async function realWorld() {
  const cluster = await testCluster({ nodes: "real" });
  return worldIn(cluster, cluster.defaultNamespace, cluster);
}

/** A namespace in the given cluster, which is kept when the test ends. */
export async function worldIn(cluster: Cinema, namespace: string, ...closes: readonly AsyncDisposable[]) {
  const closing = new AsyncDisposableStack();
  for (const each of closes) closing.use(each);
  const client = closing.use(
    createClient({ config: await loadConfig({ kubeconfig: cluster.kubeconfig }), environment: systemEnvironment() }),
  );
  const inHere = (object: object) => {
    const { metadata } = object as { readonly metadata: object };
    return { ...object, metadata: { ...metadata, namespace } };
  };
  const kubectl = (...args: readonly string[]) => cluster.kubectl("--namespace", namespace, ...args);
  const apply = async (...manifests: readonly object[]) => void (await cluster.apply(...manifests.map(inHere)));
  return {
    ...{ cluster, client, namespace, kubectl, apply },
    /** Applies the sample AppMonitor with these fields changed. */
    monitor: (different: object = {}) => apply(johnnyCache(different)),
    pod: (name: string) => cluster.pod(name, namespace),
    pods: (labels = "") => cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace, labels }),
    eventually: <T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options: EventuallyOptions = patience) =>
      cluster.eventually(read, holds, options),
    appMemory: (name: string) => cluster.get({ apiVersion: "kubedemo.com/v1", kind: "AppMemory", metadata: { name, namespace } }),
    appMonitor: () =>
      cluster.get({ apiVersion: "kubedemo.com/v1", kind: "AppMonitor", metadata: { name: "johnny-cache", namespace } }),
    /** Waits for a matching Event ("MemoryRaised: …") about an object of this kind and returns all of its Events. */
    told: (kind: string, what: RegExp): Promise<readonly string[]> =>
      cluster.eventually(
        async () => {
          const all = await cluster.list({ apiVersion: "events.k8s.io/v1", kind: "Event" }, { namespace });
          return all.map((event) => event as unknown as EventSaid).flatMap((event) => saidAbout(event, kind));
        },
        (said) => said.some((each) => what.test(each)),
        { ...patience, what: `${kind}: ${what}` },
      ),
    /** Records every state of the objects of a kind from now on, in the order of the server. */
    watchLog: <T extends Watched>(kind: Kind<T>): Promise<WatchLog<T>> => recordWatch(client, kind, namespace),
    /** Starts an operator of this namespace with a polling interval of five seconds. */
    operate: async ({ prometheus = cluster.prometheus ?? "" }: OperateOptions = {}): Promise<Operating> => {
      const { kubeconfig } = cluster;
      return closing.use(await operating({ kubeconfig, namespace, prometheus }));
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
export type RealWorld = Awaited<ReturnType<typeof worldIn>>;

async function operating(options: { kubeconfig: string; namespace: string; prometheus: string }): Promise<Operating> {
  const { kubeconfig, namespace, prometheus } = options;
  const passes: Pass[] = [];
  const transport = httpTransport({ address: prometheus });
  const onPass = (pass: Pass) => void passes.push(pass);
  const { controllers } = memhogControllers({ prometheus: transport, intervalMs: 5_000, onPass }, systemEnvironment());
  const running = await startOperator({ name: operatorName, controllers, kubeconfig, namespaces: [namespace] });
  const reasonsFor = (pod: string) =>
    passes.flatMap(({ plan }) => plan.verdicts.filter((each) => each.pod.name === pod).map(({ decision }) => decision.reason));
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= running.stop().then(() => transport.close?.());
    return stopped;
  };
  return { ...running, passes, reasonsFor, stop, [Symbol.asyncDispose]: stop };
}

export function johnnyCache(different: object = {}): object {
  const spec = { memThresholdPercent: 75, memMultiplier: 2, ...different };
  return { apiVersion: "kubedemo.com/v1", kind: "AppMonitor", metadata: { name: "johnny-cache" }, spec };
}

/**
 * For an AppMonitor: only the threshold counts. A small hog is at its size at once, and until the next measurement nobody can tell
 * that from a leak that goes on; the trend may then raise it twice, and a test that counts raises would fail by chance.
 */
export const noTrend = { lookaheadSeconds: 0 };

/** A memory hog that soon holds 105 of its 128Mi (about 116Mi as the kubelet counts it) and then stays constant. */
export function smallHog(name: string, different: Partial<Parameters<typeof hogPod>[0]> = {}) {
  const args = ["--ramp", "20Mi/s", "--to", "105Mi"];
  return hogPod({ name, args, limit: "128Mi", request: "64Mi", monitored: true, ...different });
}

/** Memory request and limit in the spec of its first container: "64Mi/128Mi". */
export const asked = (pod: KubernetesObject | undefined) => memoryIn(pod?.spec.containers[0].resources);
/** Memory request and limit in the status of its first container, as the kubelet reports them. */
export const confirmed = (pod: KubernetesObject | undefined) => memoryIn(pod?.status.containerStatuses?.[0]?.resources);
export const restartsOf = (pod: KubernetesObject | undefined): number => pod?.status.containerStatuses?.[0]?.restartCount;

/** A pod, or a recorded state of one. */
interface Living {
  readonly metadata?: { readonly deletionTimestamp?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Ready and not terminating. */
export const serves = (pod: Living | undefined): boolean =>
  pod?.metadata?.deletionTimestamp === undefined &&
  (pod?.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True");

interface Resources {
  readonly requests?: { readonly memory?: string };
  readonly limits?: { readonly memory?: string };
}

const memoryIn = (resources: Resources | undefined) => `${resources?.requests?.memory}/${resources?.limits?.memory}`;

interface EventSaid {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string };
}

const saidAbout = ({ reason, note, regarding }: EventSaid, kind: string): readonly string[] =>
  regarding.kind === kind ? [`${reason}: ${note}`] : [];
