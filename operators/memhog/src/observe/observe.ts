// Collects the inputs of a decision about one app as plain values, from the caches and the latest samples. Makes no decision and
// writes nothing. The files of this folder:
//
//     kinds.ts                 the watched kinds, their views and indexes
//     *-facts.ts               the values that the views keep of an object
//     app-of.ts                pod → app → key
//     monitors.ts              which AppMonitor acts on an app
//     watches.ts               which change enqueues which app
//     memory-poller.ts         the queries to Prometheus (prometheus/)
//     pods.ts                  the pods of an app with their nodes and samples
//     raises-in-progress.ts    the raises of other apps
//
// All lookups stay in the namespace of the app (T1).
import { type ObjectRef, Pod, type Stored } from "@memhog/runtime";
import type { Discovery } from "@memhog/runtime/client";
import type { Clock } from "@memhog/runtime/concurrency";
import type { CacheReader } from "@memhog/runtime/controller";
import { readRecord } from "../api/stored-record.ts";
import { rolloutStage } from "../decide/redeploy.ts";
import type {
  AppName,
  ClusterAbilities,
  NamespaceLimits,
  ObservedApp,
  ObservedPod,
  ObservedTemplate,
} from "../model/observed-app.ts";
import { appMemoryName, appNamedBy, appOf, appText, parseApp } from "./app-of.ts";
import {
  AppMemoryView,
  autoscalersByTarget,
  CronJobView,
  DaemonSetView,
  DeploymentView,
  type Kept,
  quotasByNamespace,
  ReplicaSetView,
  rangesByNamespace,
  StatefulSetView,
  watchedPods,
} from "./kinds.ts";
import type { MemoryPoller } from "./memory-poller.ts";
import { monitorsOf, policyOf } from "./monitors.ts";
import type { TemplateFacts } from "./owner-facts.ts";
import type { RaiseTimes } from "./pods.ts";
import { type KeptPod, kubeletsHave, observedPod, podsOf, vpaOf } from "./pods.ts";
import { RaisesInProgress } from "./raises-in-progress.ts";

type Cached = Pick<CacheReader, "get" | "lookup">;

/** The part of the reconcile context that is used here. */
export interface ObserveContext extends Cached {
  readonly client: { readonly discovery: Pick<Discovery, "hasSubresource" | "version"> };
  readonly clock: Pick<Clock, "now">;
  readonly signal: AbortSignal;
}

/** The inputs besides the caches. */
export interface ObserveDeps {
  readonly memory: Pick<MemoryPoller, "samplesOf" | "metrics"> & Partial<Pick<MemoryPoller, "windowOf">>;
  readonly raises: Pick<RaiseTimes, "ago" | "since">;
  /** Nodes are watched (see `watches`). If not, the free memory of nodes is unknown and not a cap. */
  readonly nodes: boolean;
  /** See ClusterAbilities. @default false */
  readonly inPlaceOnly?: boolean;
  /** Raises that may not be in the cache yet. @default none */
  readonly inProgress?: RaisesInProgress;
  /** Called for every malformed entry of an AppMemory. */
  readonly onBroken?: (where: string) => void;
}

/** Undefined if the app has neither pods nor an AppMemory. */
export async function observe(ref: ObjectRef, ctx: ObserveContext, deps: ObserveDeps): Promise<ObservedApp | undefined> {
  const cached: Cached = ctx;
  const memory = cached.get(AppMemoryView, ref);
  const app = memory === undefined ? appBehind(ref, cached) : parseApp(ref.namespace ?? "", memory.spec.app);
  if (app === undefined) return undefined;
  const kept = podsOf(app, cached);
  if (kept.length === 0 && memory === undefined) return undefined;
  const { acting, outranked } = monitorsOf(app, cached, kept);
  const policies = acting.map(policyOf);
  const metric = policies.length === 1 ? (policies[0]?.metric ?? "WorkingSet") : "WorkingSet";
  const windowMs = policies.length === 1 ? policies[0]?.shrink?.windowMs : undefined;
  const tools = { cached, memory: deps.memory, metric, windowMs, nodes: deps.nodes };
  const pods = kept.map((pod) => observedPod(pod, tools));
  const cluster = await abilitiesOf(ctx.client.discovery, ctx.signal);
  const record = readRecord(memory, deps.onBroken);
  const template = templateOf(app, pods, cached);
  const rollouts = record.intents.filter(({ method }) => method === "Template");
  return {
    app,
    nowMs: ctx.clock.now(),
    policies,
    outranked: outranked.map(({ metadata }) => metadata.name),
    record,
    pods,
    template,
    limits: limitsOf(app, cached),
    metrics: deps.memory.metrics(),
    cluster: {
      ...cluster,
      resizeAfterOomKill: cluster.resizeAfterOomKill && kubeletsHave(resizeAfterOomKillSince, kept, tools),
      ...(cluster.lowersLimits && { lowersLimits: kubeletsHave(lowersLimitsSince, kept, tools) }),
      ...(deps.inPlaceOnly && { inPlaceOnly: true }),
    },
    otherAutoscaler: otherAutoscalerOf(app, kept, cached),
    underWayElsewhere: (deps.inProgress ?? new RaisesInProgress()).elsewhere(ref, cached, ctx.clock.now()),
    raisedAgoMs: deps.raises.ago(everRaised(pods, record)),
    rolloutUnchangedMs: new Map(
      rollouts.map((intent) => [intent.id, deps.raises.since(rolloutStage({ pods, template }, intent))] as const),
    ),
  };
}

/** Includes replaced pods, whose raises still count for the cooldown (M5). */
function everRaised(pods: ObservedApp["pods"], { actions, intents }: ObservedApp["record"]): ReadonlySet<string> {
  return new Set([...pods, ...actions.map(({ pod }) => pod), ...intents.map(({ pod }) => pod)].map(({ uid }) => uid));
}

/**
 * The app of a key that has no AppMemory yet. Usually the key contains the name. If the name was shortened, the app is searched among
 * the annotated pods of the namespace.
 */
function appBehind(ref: ObjectRef, cached: Cached): AppName | undefined {
  const named = appNamedBy(ref);
  if (named !== undefined && podsOf(named, cached).length > 0) return named;
  const isShortened = /-[b-df-hj-np-tv-xz2-9]{10}$/.test(ref.name);
  if (!isShortened) return named;
  const apps = cached.lookup(watchedPods, ref.namespace ?? "").map((pod) => appOf(pod, cached));
  return apps.find((app) => app !== undefined && appMemoryName(app) === ref.name);
}

function limitsOf({ namespace }: AppName, cached: Cached): NamespaceLimits {
  const ranges = cached.lookup(rangesByNamespace, namespace);
  const quotas = cached.lookup(quotasByNamespace, namespace);
  return {
    ranges: ranges.flatMap(({ metadata: { name }, facts }) => facts.map((range) => ({ name, ...range }))),
    quotas: quotas.flatMap(({ metadata: { name }, facts }) => facts.map((quota) => ({ name, ...quota }))),
  };
}

/** A VPA sets requests and limits; an HPA on memory utilization depends on the request only. So the VPA takes precedence. */
function otherAutoscalerOf(app: AppName, pods: readonly KeptPod[], cached: Cached): ObservedApp["otherAutoscaler"] {
  const vpa = vpaOf(pods);
  if (vpa !== undefined) return { name: vpa, kind: "VPA" };
  const [hpa] = cached.lookup(autoscalersByTarget, `${app.namespace}/${appText(app)}`);
  return hpa && { name: `HorizontalPodAutoscaler/${hpa.metadata.name}`, kind: "HPA" };
}

/** Undefined for bare pods, Jobs (whose template is immutable), unknown owners, and owners that are gone. */
export function templateOf(app: AppName, pods: readonly ObservedPod[], cached: Cached): ObservedTemplate | undefined {
  const ref = { namespace: app.namespace, name: app.name };
  switch (app.kind) {
    case "Deployment":
      return seen(cached.get(DeploymentView, ref));
    case "StatefulSet":
      return seen(cached.get(StatefulSetView, ref));
    case "DaemonSet":
      return seen(cached.get(DaemonSetView, ref));
    case "CronJob":
      return seen(cached.get(CronJobView, ref));
    case "ReplicaSet":
      return ofReplicaSet(cached.get(ReplicaSetView, ref), pods);
    default:
      return undefined;
  }
}

function seen(owner: Stored<Kept<TemplateFacts>> | undefined): ObservedTemplate | undefined {
  if (owner === undefined) return undefined;
  const { uid, resourceVersion } = owner.metadata;
  return { uid, resourceVersion, ...owner.facts };
}

/** The status of a ReplicaSet does not say which pods have the newest template. Pods with at least its memory count as updated. */
function ofReplicaSet(
  owner: Stored<Kept<{ readonly template?: TemplateFacts }>> | undefined,
  pods: readonly ObservedPod[],
): ObservedTemplate | undefined {
  const template = owner?.facts.template;
  if (owner === undefined || template === undefined) return undefined;
  const { uid, resourceVersion } = owner.metadata;
  const rolledOut = template.rolledOut && pods.every((pod) => pod.deleting || isAsLarge(pod, template));
  return { uid, resourceVersion, ...template, rolledOut };
}

function isAsLarge({ containers }: ObservedPod, template: TemplateFacts): boolean {
  return containers.every(({ name, limit = 0 }) => {
    const wanted = template.containers.find((container) => container.name === name)?.limit ?? 0;
    return limit >= wanted;
  });
}

/** In earlier versions, a resize of a container that was already OOM-killed does not reach the pod, and the container keeps dying. */
const resizeAfterOomKillSince = 37;
/** Earlier versions reject a lower memory limit, unless the container is restarted. */
const lowersLimitsSince = 34;

/**
 * Uses discovery instead of the version for in-place resize, because the feature can be disabled or backported. The client caches
 * discovery for some minutes, so this is cheap and notices upgrades.
 */
export async function abilitiesOf(
  discovery: Pick<Discovery, "hasSubresource" | "version">,
  signal: AbortSignal,
): Promise<ClusterAbilities> {
  const [inPlace, { major, minor }] = await Promise.all([
    discovery.hasSubresource(Pod, "resize", { signal }),
    discovery.version({ signal }),
  ]);
  const has = (since: number) => inPlace && (major > 1 || minor >= since);
  return {
    inPlace,
    resizeAfterOomKill: has(resizeAfterOomKillSince),
    ...(has(lowersLimitsSince) && { lowersLimits: true }),
  };
}
