// The operator where it has to work: hogs in real containers, a kubelet that measures and resizes them, a real Prometheus between
// the two. A world is a namespace of such a cluster, and whatever operators a test starts for it; tests of one file run side by
// side, because what they do most is wait for memory to be measured.
import { hogPod, loadHog } from "@memhog/hog";
import { type Cluster, type EventuallyOptions, type KubernetesObject, startCluster } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { connect, crdOf, type Kind, systemEnvironment, type KubernetesObject as Watched } from "@memhog/runtime";
import { type OperatorUnderTest, startOperator } from "@memhog/runtime/testing";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { operatorName } from "../api/names.ts";
import { memhogControllers } from "../memhog.ts";
import { httpTransport } from "../observe/prometheus/http-transport.ts";
import type { Pass } from "../reconcile.ts";
import { type Filmed, film } from "./film.fixture.ts";

type Cinema = Pick<Cluster & TestCluster, keyof Cluster & keyof TestCluster>;

/** Longer than a bigger memory takes on the busiest machine: a node measures every 15 s, and a rollout takes its time. */
export const patience = { timeoutMs: 240_000 };
/** For `it`: some of such waits. */
export const longTest = { timeout: 600_000 };

/** Before 1.33 nothing is resized in place: `npm run test:real -- --kubernetes 1.32`. */
export const resizesInPlace = Number((process.env.LOCALCLUSTER_KUBERNETES || "1.99").split(".")[1]) >= 33;

/** For beforeAll: hogs can run in the cluster of the run, and it knows our kinds. */
export async function furnish(): Promise<void> {
  await using cluster = await testCluster({ nodes: "real" });
  await furnished(cluster);
}

/** A cluster of one's own, for those who break it or who need the scrape interval that people have. */
export async function ownCluster(): Promise<Cluster> {
  return furnished(await startCluster({ nodes: "real", prometheus: { scrapeInterval: "5s" } }));
}

async function furnished<C extends Cinema>(cluster: C): Promise<C> {
  await loadHog(cluster);
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  return cluster;
}

export interface OperateOptions {
  /** Where Prometheus is. @default that of the cluster */
  readonly prometheus?: string;
}

/** A running operator, and what it thought. */
export interface Operating extends OperatorUnderTest {
  /** Every pass over every app, as it ended. */
  readonly passes: readonly Pass[];
  /** What it answered about the containers of a pod, pass by pass. */
  reasonsFor(pod: string): readonly string[];
}

/** A namespace in the cluster of the run. */
export async function realWorld() {
  const cluster = await testCluster({ nodes: "real" });
  return worldIn(cluster, cluster.defaultNamespace, cluster);
}

/** A namespace in this cluster, which stays when the world ends. */
export async function worldIn(cluster: Cinema, namespace: string, ...closes: readonly AsyncDisposable[]) {
  const closing = new AsyncDisposableStack();
  for (const each of closes) closing.use(each);
  const client = closing.use(await connect({ kubeconfig: cluster.kubeconfig, environment: systemEnvironment() }));
  const inHere = (object: object) => {
    const { metadata } = object as { readonly metadata: object };
    return { ...object, metadata: { ...metadata, namespace } };
  };
  const kubectl = (...args: readonly string[]) => cluster.kubectl("--namespace", namespace, ...args);
  const apply = async (...manifests: readonly object[]) => void (await cluster.apply(...manifests.map(inHere)));
  return {
    ...{ cluster, client, namespace, kubectl, apply },
    /** One AppMonitor: the seeds', but for what differs. */
    monitor: (different: object = {}) => apply(johnnyCache(different)),
    pod: (name: string) => cluster.pod(name, namespace),
    pods: (labels = "") => cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace, labels }),
    eventually: <T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options: EventuallyOptions = patience) =>
      cluster.eventually(read, holds, options),
    appMemory: (name: string) => cluster.get({ apiVersion: "kubedemo.com/v1", kind: "AppMemory", metadata: { name, namespace } }),
    appMonitor: () =>
      cluster.get({ apiVersion: "kubedemo.com/v1", kind: "AppMonitor", metadata: { name: "johnny-cache", namespace } }),
    /** Waits until somebody said so about an object of this kind, "MemoryRaised: …"; answers with everything that was said. */
    told: (kind: string, what: RegExp): Promise<readonly string[]> =>
      cluster.eventually(
        async () => {
          const all = await cluster.list({ apiVersion: "events.k8s.io/v1", kind: "Event" }, { namespace });
          return all.map((event) => event as unknown as EventSaid).flatMap((event) => saidAbout(event, kind));
        },
        (said) => said.some((each) => what.test(each)),
        { ...patience, what: `${kind}: ${what}` },
      ),
    /** Every state of the objects of a kind from now on, in the order in which the server had them. */
    film: <T extends Watched>(kind: Kind<T>): Promise<Filmed<T>> => film(client, kind, namespace),
    /** An operator of this namespace alone, that looks every five seconds. */
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

/** A hog that soon holds 105 of its 128Mi, some 116 as the kubelet counts it, and is content. */
export function smallHog(name: string, different: Partial<Parameters<typeof hogPod>[0]> = {}) {
  const args = ["--ramp", "20Mi/s", "--to", "105Mi"];
  return hogPod({ name, args, limit: "128Mi", request: "64Mi", monitored: true, ...different });
}

/** Request and limit of its first container, as the spec asks for them: "64Mi/128Mi". */
export const asked = (pod: KubernetesObject | undefined) => memoryIn(pod?.spec.containers[0].resources);
/** The same, as the kubelet confirms them. */
export const confirmed = (pod: KubernetesObject | undefined) => memoryIn(pod?.status.containerStatuses?.[0]?.resources);
export const restartsOf = (pod: KubernetesObject | undefined): number => pod?.status.containerStatuses?.[0]?.restartCount;

/** A pod, or what a film shows of one. */
interface Living {
  readonly metadata?: { readonly deletionTimestamp?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Ready, and not about to leave. */
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
