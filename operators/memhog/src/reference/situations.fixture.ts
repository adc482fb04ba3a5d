// Parses the first cell of a row in the tables of docs/ into the input of decide(). The base case is a container with 256Mi/384Mi that
// uses 100Mi, with a threshold of 75 % and a multiplier of 2. Each phrase changes it:
//
//     "uses 288Mi; memMultiplier 1.5"
//
// An unknown phrase is an error, so every row is tested.
import { type Bytes, bytesOf } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  hpa,
  now,
  samplesOf,
  vpa,
} from "../model/observed-app.fixture.ts";
import type {
  AppKind,
  NamespaceLimits,
  ObservedApp,
  ObservedContainer,
  ObservedPod,
  ObservedTemplate,
  Policy,
  Strategy,
} from "../model/observed-app.ts";
import type { AppRecord } from "../model/plan.ts";

interface Difference {
  readonly policy?: Partial<Policy>;
  readonly container?: Partial<ObservedContainer>;
  readonly pod?: Partial<ObservedPod>;
  readonly limits?: Partial<NamespaceLimits>;
  readonly record?: Partial<AppRecord>;
  readonly template?: Partial<ObservedTemplate>;
  readonly app?: Partial<ObservedApp>;
}

type Phrase = readonly [RegExp, (...words: string[]) => Difference];

const phrases: readonly Phrase[] = [
  // usage
  [/^uses (\S+)$/, (use) => ({ container: { samples: steady(use) } })],
  [
    /^samples (.+), (\d+) s apart, the last (\d+) s ago$/,
    (sizes, apart, ago) => ({ container: { samples: ramp(sizes, apart, ago) } }),
  ],
  [/^has (\S+)\/(\S+)$/, (request, limit) => ({ container: sized(request, limit) })],
  [/^Guaranteed (\S+)$/, (size) => ({ pod: { qos: "Guaranteed" }, container: sized(size, size) })],
  [/^killed (\d+) s ago$/, (ago) => killed(Number(ago))],
  [/^killed (\d+) s ago, still down$/, (ago) => killed(Number(ago), true)],
  // policy
  [/^memThresholdPercent (\S+)$/, (percent) => ({ policy: { thresholdPercent: Number(percent) } })],
  [/^memMultiplier (\S+)$/, (factor) => ({ policy: { multiplier: Number(factor) } })],
  [/^lookaheadSeconds (\d+)$/, (seconds) => ({ policy: { lookaheadMs: Number(seconds) * 1000 } })],
  [/^strategy (\w+)$/, (strategy) => ({ policy: { strategy: strategy as Strategy } })],
  [/^paused$/, () => ({ policy: { paused: true } })],
  // caps
  [/^maxMemory (\S+)$/, (most) => ({ policy: { maxMemory: bytesOf(most) } })],
  [/^LimitRange\/(\w+) max (\S+)$/, (name, max) => ranges({ name, per: "Container", max: bytesOf(max), maxRatio: undefined })],
  [
    /^LimitRange\/(\w+) limit ÷ request ≤ (\S+)$/,
    (name, ratio) => ranges({ name, per: "Container", max: undefined, maxRatio: Number(ratio) }),
  ],
  [/^ResourceQuota\/(\w+) (limits|requests): (\S+) of (\S+) used$/, (name, of, used, hard) => quotas(name, of, used, hard)],
  [/^node of (\S+), (\S+) requested$/, (size, taken) => node(size, taken)],
  // history
  [/^raised (\d+) s ago$/, (ago) => ({ record: { actions: raises(1, Number(ago)) } })],
  [/^raised (\d+) times within the hour$/, (count) => ({ record: { actions: raises(Number(count), 300) } })],
  [/^(\d+) kills answered within the hour$/, (count) => ({ record: { actions: raises(Number(count), 300, "OutOfMemory") } })],
  [/^the app is known to need (\S+)\/(\S+)$/, (request, limit) => learned(request, limit)],
  // cluster and namespace
  [
    /^a (Deployment|StatefulSet|DaemonSet|ReplicaSet|CronJob|Job)$/,
    (kind) => ({
      app: { app: { kind: kind as AppKind, namespace: "demo", name: "memhog" } },
      template: { maxUnavailable: kind === "Deployment" || kind === "CronJob" ? 0 : 1 },
    }),
  ],
  [/^(\d+) replicas$/, (count) => ({ template: { replicas: Number(count) } })],
  [/^maxSurge 0, maxUnavailable (\d+)$/, (count) => ({ template: { maxUnavailable: Number(count) } })],
  [/^not Ready$/, () => ({ pod: { ready: false } })],
  [/^a bare pod$/, () => ({ app: { app: { kind: "Pod", namespace: "demo", name: "memhog" }, template: undefined } })],
  [
    /^another owner$/,
    () => ({ app: { app: { kind: "Other", namespace: "demo", name: "Rollout.argoproj.io/memhog" }, template: undefined } }),
  ],
  [/^writes to a volume$/, () => ({ pod: { copyRisk: "WritesVolume" } })],
  [/^restartPolicy Never$/, () => ({ pod: { copyRisk: "RunsOnce" } })],
  [/^Kubernetes 1.36$/, () => ({ app: { cluster: { inPlace: true, resizeAfterOomKill: false } } })],
  [/^no pods\/resize$/, () => ({ app: { cluster: { inPlace: false, resizeAfterOomKill: false } } })],
  [/^an HPA by memory utilisation$/, () => ({ app: hpa })],
  [/^a VPA$/, () => ({ app: vpa })],
  [/^no AppMonitor$/, () => ({ app: { policies: [] } })],
  [/^Prometheus does not answer$/, () => ({ app: { metrics: { available: false, freshForMs: 90_000 } } })],
  [/^no sample$/, () => ({ container: { samples: [] } })],
  [/^the last sample is (\d+) s old$/, (age) => ({ container: { samples: samplesOf([300], 12_000, Number(age) * 1000) } })],
];

/** @throws Error for an unknown phrase */
export function situation(words: string): ObservedApp {
  const all = words.split("; ").map(differenceOf);
  const merged = <K extends keyof Difference>(key: K) =>
    Object.assign({}, ...all.map((each) => each[key])) as NonNullable<Difference[K]>;
  const container = anObservedContainer(merged("container"));
  const { limit, request } = container;
  return anApp({
    policies: [aPolicy(merged("policy"))],
    pods: [anObservedPod({ ...merged("pod"), containers: [container] })],
    limits: { ranges: [], quotas: [], ...merged("limits") },
    record: aRecord(merged("record")),
    metrics: { available: true, freshForMs: 90_000 },
    template: aTemplate({ ...merged("template"), containers: [{ name: container.name, limit, request }] }),
    ...merged("app"),
  });
}

function differenceOf(phrase: string): Difference {
  for (const [pattern, make] of phrases) {
    const found = pattern.exec(phrase);
    if (found !== null) return make(...found.slice(1));
  }
  throw new Error(`a worked table says ${JSON.stringify(phrase)}: nobody knows what that is`);
}

const inMiB = (size: string): number => bytesOf(size) / 1024 / 1024;
const steady = (use = "0") => samplesOf([inMiB(use), inMiB(use), inMiB(use)]);
const ramp = (sizes = "", apart = "0", ago = "0") =>
  samplesOf(sizes.split(" ").map(inMiB), Number(apart) * 1000, Number(ago) * 1000);

function sized(request = "0", limit = "0"): { readonly limit: Bytes; readonly request: Bytes } {
  return { limit: bytesOf(limit), request: bytesOf(request) };
}

const killed = (ago: number, stillDown = false): Difference => ({
  container: { running: !stillDown, restarts: stillDown ? 0 : 1, oomKill: { restart: 0, atMs: now - ago * 1000, stillDown } },
});

const ranges = (range: NamespaceLimits["ranges"][number]): Difference => ({ limits: { ranges: [range] } });

const quotas = (name = "", of = "", used = "0", hard = "0"): Difference => ({
  limits: { quotas: [{ name, of: of as "limits" | "requests", hard: bytesOf(hard), used: bytesOf(used) }] },
});

const node = (size = "0", taken = "0"): Difference => ({
  pod: { node: { name: "n1", allocatable: bytesOf(size), requested: bytesOf(taken), underPressure: false } },
});

/** The last one was this many seconds ago; the others are five minutes apart. */
const raises = (count: number, ago: number, reason: "ThresholdCrossed" | "OutOfMemory" = "ThresholdCrossed") =>
  Array.from({ length: count }, (_, i) => anAction({ reason, atMs: now - (ago + (count - 1 - i) * 300) * 1000 }));

/** Of a previous pod of the app. */
const learned = (request = "0", limit = "0"): Difference => ({
  record: { learned: [{ container: "memhog", ...sized(request, limit), atMs: now - 7_200_000 }] },
});
