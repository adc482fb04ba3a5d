// Everything a decision about one app rests on, as plain values: from caches, and from the samples of the last poll. Nothing here
// judges, and nothing is written. A folder tour:
//
//     kinds.ts            what is watched, what is kept of it (facts/), and how it is found again
//     app-of.ts           pod → app → key                 watches.ts     which change concerns which app
//     memory-poller.ts    one question to Prometheus per interval (prometheus/), samples with their ages
//     pods.ts, template.ts, policy.ts, abilities.ts, raise-witness.ts, under-way.ts     the parts of what is seen
//     observe.ts          puts them together
//
// Everything of an app is in one namespace, and nothing is looked up in another (promise T1): there is no place in which an
// AppMonitor could name one.
import type { CachedObjects, Clock, Discovery, ObjectRef } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { readRecord } from "../api/record.ts";
import type { AppName, AppSeen, NamespaceLimits } from "../model/seen.ts";
import { abilitiesOf } from "./abilities.ts";
import { appMemoryName, appNamedBy, appOf, appText, parseApp } from "./app-of.ts";
import { autoscalersByTarget, monitorsByNamespace, quotasByNamespace, rangesByNamespace, watchedPods } from "./kinds.ts";
import type { MemoryPoller } from "./memory-poller.ts";
import { type KeptPod, kubeletsResizeAfterOomKill, podSeen, podsOf, vpaOf } from "./pods.ts";
import { policiesFor } from "./policy.ts";
import type { RaiseWitness } from "./raise-witness.ts";
import { templateOf } from "./template.ts";
import { UnderWay } from "./under-way.ts";

type Cached = Pick<CachedObjects, "get" | "lookup">;

/** What is needed of a reconciler's context. */
export interface ObserveContext {
  readonly cached: Cached;
  readonly client: { readonly discovery: Pick<Discovery, "hasSubresource" | "version"> };
  readonly clock: Pick<Clock, "now">;
  readonly signal: AbortSignal;
}

/** What there is beside the caches. */
export interface ObserveWorld {
  readonly memory: Pick<MemoryPoller, "samplesOf" | "metrics">;
  readonly raises: Pick<RaiseWitness, "ago">;
  /** Nodes are watched (see `watches`). Without them nothing is known about room on them, and no cap comes from them. */
  readonly nodes: boolean;
  /** What was decided and may not be in the cache yet. @default nothing */
  readonly underWay?: UnderWay;
  /** Told about every entry of an AppMemory that could not be read. @default nobody */
  readonly onBroken?: (where: string) => void;
}

/** What can be seen of the app with this key; undefined if there is nothing: no pods, and no memory of any. */
export async function observe(ref: ObjectRef, ctx: ObserveContext, world: ObserveWorld): Promise<AppSeen | undefined> {
  const { cached } = ctx;
  const memory = cached.get(AppMemory, ref);
  const app = memory === undefined ? appBehind(ref, cached) : parseApp(ref.namespace ?? "", memory.spec.app);
  if (app === undefined) return undefined;
  const kept = podsOf(app, cached);
  if (kept.length === 0 && memory === undefined) return undefined;
  const policies = policiesOf(app, kept, cached);
  const metric = policies.length === 1 ? (policies[0]?.metric ?? "WorkingSet") : "WorkingSet";
  const tools = { cached, memory: world.memory, metric, nodes: world.nodes };
  const pods = kept.map((pod) => podSeen(pod, tools));
  const cluster = await abilitiesOf(ctx.client.discovery, ctx.signal);
  const record = readRecord(memory, world.onBroken);
  return {
    app,
    nowMs: ctx.clock.now(),
    policies,
    record,
    pods,
    template: templateOf(app, pods, cached),
    limits: limitsOf(app, cached),
    metrics: world.memory.metrics(),
    cluster: { ...cluster, resizeAfterOomKill: cluster.resizeAfterOomKill && kubeletsResizeAfterOomKill(kept, tools) },
    rival: rivalOf(app, kept, cached),
    underWayElsewhere: (world.underWay ?? new UnderWay()).elsewhere(ref, cached),
    raisedAgoMs: world.raises.ago(everRaised(pods, record)),
  };
}

/** Pods that were replaced by bigger ones are gone, and still say when that was (promise M5). */
function everRaised(pods: AppSeen["pods"], { actions, intents }: AppSeen["record"]): ReadonlySet<string> {
  return new Set([...pods, ...actions.map(({ pod }) => pod), ...intents.map(({ pod }) => pod)].map(({ uid }) => uid));
}

/**
 * The app of a key that has no AppMemory yet. Nearly always the key says it; one that had to be shortened is looked for among the
 * pods of the namespace.
 */
function appBehind(ref: ObjectRef, cached: Cached): AppName | undefined {
  const named = appNamedBy(ref);
  if (named !== undefined && podsOf(named, cached).length > 0) return named;
  const isShortened = /-[b-df-hj-np-tv-xz2-9]{10}$/.test(ref.name);
  if (!isShortened) return named;
  const apps = cached.lookup(watchedPods, ref.namespace ?? "").map((pod) => appOf(pod, cached));
  return apps.find((app) => app !== undefined && appMemoryName(app) === ref.name);
}

function policiesOf({ namespace }: AppName, pods: readonly KeptPod[], cached: Cached) {
  const labels = pods.flatMap(({ metadata, facts }) => (facts.watched === undefined ? [] : [metadata.labels]));
  return policiesFor(cached.lookup(monitorsByNamespace, namespace), labels);
}

function limitsOf({ namespace }: AppName, cached: Cached): NamespaceLimits {
  const ranges = cached.lookup(rangesByNamespace, namespace);
  const quotas = cached.lookup(quotasByNamespace, namespace);
  return {
    ranges: ranges.flatMap(({ metadata: { name }, facts }) => facts.map((range) => ({ name, ...range }))),
    quotas: quotas.flatMap(({ metadata: { name }, facts }) => facts.map((quota) => ({ name, ...quota }))),
  };
}

/** A VPA sets requests and limits itself; an HPA by memory utilisation only minds the request. The VPA is named first. */
function rivalOf(app: AppName, pods: readonly KeptPod[], cached: Cached): AppSeen["rival"] {
  const vpa = vpaOf(pods);
  if (vpa !== undefined) return { name: vpa, kind: "VPA" };
  const [hpa] = cached.lookup(autoscalersByTarget, `${app.namespace}/${appText(app)}`);
  return hpa && { name: `HorizontalPodAutoscaler/${hpa.metadata.name}`, kind: "HPA" };
}
