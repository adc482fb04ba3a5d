// Worlds by the dice: apps in all the states that we can think of, and in most of their mixtures. Likely enough to be hot, capped,
// killed, cooling down and badly measured that every reason comes up within a few thousand.
import { bytes, MiB, mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  now,
} from "../model/observed-app.fixture.ts";
import type {
  AppKind,
  NamespaceLimits,
  ObservedApp,
  ObservedContainer,
  ObservedPod,
  ObservedTemplate,
  Policy,
  Sample,
} from "../model/observed-app.ts";
import type { Action, AppRecord, Intent, Method } from "../model/plan.ts";
import { type WaitReason, waitReasons } from "../model/reasons.ts";

const hour = 3_600_000;
const kinds: readonly AppKind[] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "CronJob", "Job", "Pod", "Other"];
const methods: readonly Method[] = ["InPlace", "InPlace", "CopyPod", "Template"];
const reasons = ["ThresholdCrossed", "WillRunOut", "OutOfMemory", "OutOfMemory", "LearnedBefore"] as const;
const waits = Object.keys(waitReasons) as readonly WaitReason[];
const strategies = ["Auto", "Auto", "InPlace", "Redeploy", "Recommend"] as const;

/** `random` gives numbers in [0, 1), as Math.random does. */
export function randomWorld(random: () => number): ObservedApp {
  const dice = diceOf(random);
  const pods = dice.some(1, 3, (i) => randomPod(dice, i));
  const seen = anApp({
    app: { kind: dice.one(kinds), namespace: "demo", name: "memhog" },
    policies: dice.chance(0.94) ? [randomPolicy(dice)] : dice.some(0, 2, (i) => aPolicy({ name: `${i}`, uid: `${i}` })),
    record: randomRecord(dice, pods),
    pods,
    limits: randomLimits(dice),
    metrics: { available: dice.chance(0.95), freshForMs: dice.one([30_000, 60_000, 300_000]) },
    cluster: { inPlace: dice.chance(0.8), resizeAfterOomKill: dice.chance(0.5) },
    otherAutoscaler: dice.chance(0.9)
      ? undefined
      : { name: "HorizontalPodAutoscaler/web", kind: dice.one(["HPA", "HPA", "VPA"]) },
  });
  const [original, second] = pods;
  const isCopy = dice.chance(0.2);
  const copies = isCopy ? { copyOf: original?.uid, ready: dice.chance(0.7) } : {};
  const record = withMessages(dice, seen.record);
  const asCopy = (one: Intent) => (isCopy && second && one.method === "CopyPod" ? { ...one, copyUid: second.uid } : one);
  return {
    ...seen,
    record: { ...record, intents: record.intents.map(asCopy) },
    template: randomTemplate(dice, pods),
    pods: pods.map((pod, i) => (i === 1 ? { ...pod, ...copies } : pod)),
  };
}

function randomTemplate(dice: Dice, pods: readonly ObservedPod[]): ObservedTemplate {
  const size = dice.one([384, 768, 4_096]);
  const containers = [{ name: "memhog", limit: mib(size), request: mib(Math.ceil(size / 1.5)) }];
  return aTemplate({
    containers,
    replicas: pods.length,
    replacesPods: dice.chance(0.7),
    rolledOut: dice.chance(0.5),
    surge: dice.one([0, 1, 2]),
    ...(dice.chance(0.3) && { stalled: "late" }),
  });
}

/** What the record says about why something waits, or ended as it did; with words beside it. */
function withMessages(dice: Dice, record: AppRecord): AppRecord {
  const message = "the server said so";
  const causes = ["NoEffect", "NameTaken"] as const;
  return {
    ...record,
    intents: record.intents.map((one) => (dice.chance(0.3) ? { ...one, waiting: { reason: dice.one(waits), message } } : one)),
    actions: record.actions.map((one) => ({ ...one, message, ...(dice.chance(0.1) && { cause: dice.one(causes) }) })),
  };
}

function randomPolicy(dice: Dice): Policy {
  return aPolicy({
    generation: dice.one([1, 1, 1, 2]),
    thresholdPercent: dice.one([75, 75, 50, 90.5, 100, 1]),
    multiplier: dice.one([2, 2, 1.5, 1.01, 10]),
    strategy: dice.one(strategies),
    maxMemory: dice.chance(0.3) ? bytes(dice.whole(1, 4_096 * MiB)) : undefined,
    cooldownMs: dice.one([60_000, 60_000, 0, 600_000]),
    lookaheadMs: dice.one([60_000, 60_000, 0, 3_600_000]),
    maxRaisesPerHour: dice.one([6, 3, 1]),
    paused: dice.chance(0.03),
  });
}

function randomPod(dice: Dice, i: number): ObservedPod {
  const qos = dice.one(["Burstable", "Burstable", "Guaranteed"] as const);
  const allocatable = dice.whole(512, 16_384);
  return anObservedPod({
    name: `memhog-${i}`,
    uid: `pod-${i}`,
    createdAtMs: now - dice.whole(0, 3 * hour),
    monitored: dice.chance(0.97),
    deleting: dice.chance(0.03),
    phase: dice.one(["Running", "Running", "Running", "Running", "Running", "Running", "Pending", "Failed"]),
    qos,
    node: dice.chance(0.1)
      ? undefined
      : {
          name: "n1",
          allocatable: mib(allocatable),
          underPressure: dice.chance(0.02),
          requested: mib(dice.whole(0, allocatable)),
        },
    containers: dice.some(1, 3, (n) => randomContainer(dice, n, qos === "Guaranteed")),
    resize: { state: dice.one(["none", "none", "none", "none", "none", "inProgress", "deferred", "error"]) },
    notResizable: dice.chance(0.05) ? "it is a static pod" : undefined,
  });
}

function randomContainer(dice: Dice, i: number, guaranteed: boolean): ObservedContainer {
  const limit = bytes(dice.chance(0.9) ? dice.whole(16, 2_048) * MiB : dice.whole(1, 4 * MiB));
  const request = guaranteed ? limit : bytes(Math.ceil(limit * dice.one([0.25, 0.5, 0.66, 1])));
  const running = dice.chance(0.9);
  const killed = dice.chance(0.2);
  return anObservedContainer({
    name: i === 0 ? "memhog" : `side-${i}`,
    limit: dice.chance(0.03) ? undefined : limit,
    request: guaranteed || dice.chance(0.95) ? request : undefined,
    running,
    oomKill: killed
      ? { restart: dice.whole(0, 3), atMs: now - dice.whole(0, dice.one([5_000, hour])), stillDown: !running }
      : undefined,
    samples: randomSamples(dice, limit),
  });
}

/** Flat, growing or shrinking, with gaps; sometimes none, sometimes old, sometimes with an age that is none. */
function randomSamples(dice: Dice, limit: number): readonly Sample[] {
  if (dice.chance(0.05)) return [];
  const every = dice.one([2_000, 5_000, 12_000, 30_000, 90_000]);
  const newest = dice.chance(0.9) ? dice.whole(0, 30_000) : dice.whole(0, hour);
  const step = limit * dice.one([0, 0, 0.001, 0.02, 0.2, -0.05]);
  const last = limit * dice.between(0, 1.05);
  return Array.from({ length: dice.whole(1, 8) }, (_, i) => ({
    bytes: bytes(Math.max(0, Math.round(last - step * i * dice.between(0.8, 1.2)))),
    ageMs: dice.chance(0.01) ? dice.one([Number.NaN, -5_000, Number.POSITIVE_INFINITY]) : newest + i * every,
  })).toReversed();
}

function randomLimits(dice: Dice): NamespaceLimits {
  const hard = dice.whole(256, 16_384);
  return {
    ranges: dice.some(0, dice.one([0, 0, 1, 2]), (i) => ({
      name: `range-${i}`,
      per: dice.one(["Container", "Pod"]),
      max: dice.chance(0.7) ? mib(dice.whole(1, 8_192)) : undefined,
      maxRatio: dice.chance(0.3) ? dice.one([1, 1.5, 2, 4]) : undefined,
    })),
    quotas: dice.some(0, dice.one([0, 0, 1, 2]), (i) => ({
      name: `quota-${i}`,
      of: dice.one(["limits", "requests"]),
      hard: mib(hard),
      used: mib(dice.whole(0, Math.floor(hard * 1.1))),
    })),
  };
}

function randomRecord(dice: Dice, pods: readonly ObservedPod[]): AppRecord {
  const seldom = dice.chance(0.2);
  return aRecord({
    actions: dice.some(0, dice.one([0, 0, 1, 12]), () => randomAction(dice, pods)).toSorted((a, b) => a.atMs - b.atMs),
    intents: seldom ? [randomIntent(dice, dice.one(pods))] : [],
    learned: dice.chance(0.3)
      ? [{ container: "memhog", limit: mib(dice.whole(64, 4_096)), request: undefined, atMs: now - dice.whole(0, 3 * hour) }]
      : [],
    kills: pods.flatMap(({ uid }) => (dice.chance(0.3) ? [{ uid, container: "memhog", restart: dice.whole(0, 3) }] : [])),
    stops: dice.chance(0.05)
      ? [{ reason: "Contested", atMs: now - dice.whole(0, hour), monitorUid: "monitor-uid", monitorGeneration: 1 }]
      : [],
  });
}

function randomAction(dice: Dice, pods: readonly ObservedPod[]): Action {
  const { name, uid } = dice.one([...pods, { name: "gone", uid: "gone" }]);
  return anAction({
    atMs: now - dice.whole(1_000, 2 * hour),
    pod: { name, uid },
    method: dice.one(methods),
    reason: dice.one(reasons),
    outcome: dice.one(["Applied", "Applied", "Applied", "Refused", "Infeasible"]),
  });
}

function randomIntent(dice: Dice, { name, uid }: ObservedPod): Intent {
  const limitsApplied = dice.chance(0.5);
  const method = limitsApplied ? "InPlace" : dice.one(methods);
  return anIntent({
    id: method === "Template" ? "template-uid/1" : `${uid}/1`,
    pod: { name, uid },
    method,
    atMs: now - dice.whole(1_000, hour),
    ...(limitsApplied && { limitsApplied }),
  });
}

type Dice = ReturnType<typeof diceOf>;

function diceOf(random: () => number) {
  const between = (from: number, to: number) => from + random() * (to - from);
  const whole = (from: number, to: number) => Math.floor(between(from, to + 1));
  return {
    between,
    whole,
    chance: (probability: number) => random() < probability,
    some: <T>(from: number, to: number, make: (i: number) => T): readonly T[] =>
      Array.from({ length: whole(from, to) }, (_, i) => make(i)),
    one: <const T>(of: readonly T[]): T => {
      const found = of[whole(0, of.length - 1)];
      if (found === undefined) throw new RangeError("nothing to choose from");
      return found;
    },
  };
}
