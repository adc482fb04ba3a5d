// Random small worlds, and random histories that lead through them: passes that crash, kubelets that defer, people who delete pods,
// pause, annotate and edit, controllers that take back, clocks that jump.
import fc from "fast-check";
import { type Bytes, mib } from "../model/bytes.ts";
import {
  aNode,
  anApp,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aTemplate,
  elsewhere,
  hpa,
  now,
  samplesOf,
} from "../model/observed-app.fixture.ts";
import type { AppKind, ObservedApp, ObservedContainer, ObservedPod, ObservedTemplate, Policy } from "../model/observed-app.ts";
import type { Waiting } from "../model/plan.ts";
import { type Happening, happenings } from "./world.fixture.ts";

const kinds: readonly AppKind[] = ["Deployment", "StatefulSet", "ReplicaSet", "CronJob", "Job", "Pod", "Pod", "Other"];

const container = (name: string): fc.Arbitrary<ObservedContainer> =>
  fc
    .record({
      limit: fc.integer({ min: 64, max: 1024 }),
      share: fc.constantFrom(0.5, 0.74, 0.8, 0.95),
      killed: fc.integer({ min: -3, max: 4 }),
      down: fc.boolean(),
      restartsOnResize: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
      silent: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    })
    .map(({ limit, share, killed, down, restartsOnResize, silent }) => {
      const oomKill = killed < 1 ? undefined : { restart: killed - 1, atMs: now - 30_000, stillDown: down };
      const samples = samplesOf([limit * share, limit * share]);
      const sizes = { limit: mib(limit), request: mib(Math.ceil(limit / 2)) };
      const asked = { ...sizes, ...(silent ? { appliedLimit: undefined, appliedRequest: undefined } : {}) };
      return anObservedContainer({ name, ...asked, samples, oomKill, running: !(oomKill && down), restartsOnResize });
    });

const pod = (number: number): fc.Arbitrary<ObservedPod> =>
  fc
    .record({
      containers: fc.tuple(container("memhog"), fc.option(container("side"), { freq: 3 })),
      guaranteed: fc.boolean(),
      ready: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
      monitored: fc.integer({ min: 0, max: 15 }).map((n) => n > 0),
      room: fc.constantFrom(0, 100, 16_000),
    })
    .map(({ containers: [first, second], guaranteed, ready, monitored, room }) => {
      const all = second === null ? [first] : [first, second];
      const equal = (one: ObservedContainer): ObservedContainer => ({
        ...one,
        request: one.limit,
        appliedRequest: one.appliedLimit,
      });
      return anObservedPod({
        name: `memhog-${number}`,
        uid: `pod-${number}`,
        containers: guaranteed ? all.map(equal) : all,
        qos: guaranteed ? "Guaranteed" : "Burstable",
        ready,
        monitored,
        node: aNode({ name: `n${Math.ceil(number / 2)}`, allocatable: mib(20_000), requested: mib(20_000 - room) }),
      });
    });

const policy: fc.Arbitrary<Policy> = fc
  .record({
    strategy: fc.constantFrom("Auto", "Auto", "Auto", "InPlace", "Redeploy", "Redeploy", "Recommend"),
    multiplier: fc.constantFrom(1.2, 1.5, 2),
    maxMemory: fc.constantFrom(undefined, mib(700), mib(1500)),
    cooldownMs: fc.constantFrom(0, 60_000),
    maxRaisesPerHour: fc.integer({ min: 1, max: 6 }),
  } as const)
  .map((different) => aPolicy(different));

const slotsTaken = [
  ...[0, 0, 0, 0, 8, 10].map((count) => elsewhere(count)),
  elsewhere(0, { cluster: 10, otherNamespaces: 1 }),
  elsewhere(4, { cluster: 7, otherNamespaces: 2 }),
];

export const worlds: fc.Arbitrary<ObservedApp> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    count: fc.integer({ min: 1, max: 6 }),
    all: fc.tuple(...[1, 2, 3, 4, 5, 6].map(pod)),
    policy,
    inPlace: fc.boolean(),
    resizeAfterOomKill: fc.boolean(),
    taken: fc.constantFrom(...slotsTaken),
    otherAutoscaler: fc.constantFrom(...Array<undefined>(9), hpa.otherAutoscaler),
  })
  .map(({ kind, count, all, policy: one, inPlace, resizeAfterOomKill, taken, otherAutoscaler }) => {
    const pods = kind === "Pod" ? all.slice(0, 1) : all.slice(0, count);
    return anApp({
      app: { kind, namespace: "demo", name: "memhog" },
      policies: [one],
      pods,
      template:
        kind === "Pod" || kind === "Job" || kind === "Other"
          ? undefined
          : aTemplate({ replicas: pods.length, ...rolloutOf(kind), containers: sizesOf(pods) }),
      cluster: { inPlace, resizeAfterOomKill },
      underWayElsewhere: taken,
      otherAutoscaler,
    });
  });

const rolloutOf = (kind: AppKind): Pick<ObservedTemplate, "replacesPods" | "maxUnavailable"> => ({
  replacesPods: kind !== "ReplicaSet",
  maxUnavailable: kind === "Deployment" || kind === "CronJob" ? 0 : 1,
});

function sizesOf(pods: readonly ObservedPod[]) {
  const containers = pods.flatMap((one) => one.containers);
  const names = [...new Set(containers.map(({ name }) => name))];
  return names.map((name) => {
    const found = containers.find((one) => one.name === name);
    return { name, limit: found?.limit, request: found?.request };
  });
}

/** What may happen between two passes. A number is how far the clock goes. */
export type Event = Happening | number | keyof typeof people;

/** What people and other controllers do. */
export const people = {
  pause: (world: ObservedApp) => onPolicy(world, (one) => ({ ...one, paused: !one.paused, generation: one.generation + 1 })),
  edit: (world: ObservedApp) => onPolicy(world, (one) => ({ ...one, generation: one.generation + 1 })),
  recommend: (world: ObservedApp) => onPolicy(world, (one) => ({ ...one, strategy: "Recommend" })),
  inPlaceOnly: (world: ObservedApp) => onPolicy(world, (one) => ({ ...one, strategy: "InPlace" })),
  annotate: (world: ObservedApp) => onFirst(world, (one) => ({ ...one, monitored: !one.monitored })),
  lose: (world: ObservedApp) => ({ ...world, pods: world.pods.slice(1) }),
  delete: (world: ObservedApp) => onFirst(world, (one) => ({ ...one, deleting: true })),
  takeBack: (world: ObservedApp) => onFirst(world, (one) => ({ ...one, containers: one.containers.map(halved) })),
  unready: (world: ObservedApp) => onFirst(world, (one) => ({ ...one, ready: false })),
  refuse: (world: ObservedApp) => onIntents(world, { reason: "Refused", message: "exceeded quota" }),
  tooLarge: (world: ObservedApp) => onIntents(world, { reason: "ResizeInfeasible", message: "NodeCapacity" }),
  stall: (world: ObservedApp) => ({
    ...world,
    template:
      world.template && !world.template.rolledOut ? { ...world.template, stalled: "ProgressDeadlineExceeded" } : world.template,
  }),
  starve: (world: ObservedApp) => onFirst(world, (one) => ({ ...one, containers: one.containers.map(hungrier) })),
  kill: (world: ObservedApp) =>
    onFirst(world, (one) => ({ ...one, containers: one.containers.map((each) => killed(each, world.nowMs)) })),
} as const;

const onPolicy = (world: ObservedApp, change: (one: Policy) => Policy): ObservedApp => ({
  ...world,
  policies: world.policies.map(change),
});
const onFirst = (world: ObservedApp, change: (one: ObservedPod) => ObservedPod): ObservedApp => ({
  ...world,
  pods: world.pods.map((one, i) => (i === 0 ? { ...change(one), resourceVersion: `${Number(one.resourceVersion) + 1}` } : one)),
});
const onIntents = (world: ObservedApp, waiting: Waiting): ObservedApp => ({
  ...world,
  record: { ...world.record, intents: world.record.intents.map((one) => ({ ...one, waiting })) },
});
const half = (size: Bytes | undefined) => (size === undefined ? undefined : mib(Math.ceil(size / 2 ** 21)));
const halved = (one: ObservedContainer): ObservedContainer => ({ ...one, limit: half(one.limit), request: half(one.request) });
const hungrier = (one: ObservedContainer): ObservedContainer => {
  const size = ((one.limit ?? 0) / 2 ** 20) * 0.9;
  return { ...one, running: true, samples: samplesOf([size, size]) };
};
const killed = (one: ObservedContainer, atMs: number): ObservedContainer => ({
  ...one,
  restarts: one.restarts + 1,
  oomKill: { restart: Math.max(one.restarts, (one.oomKill?.restart ?? -1) + 1), atMs, stillDown: false },
});

export const happen = (world: ObservedApp, event: Event): ObservedApp => {
  if (typeof event === "number") return { ...world, nowMs: world.nowMs + event };
  return event in happenings ? happenings[event as Happening](world) : people[event as keyof typeof people](world);
};

const ordinary = ["confirmed", "gone", "ready", "rolledOut"];
const names = [...ordinary, ...ordinary, ...ordinary, ...ordinary, ...Object.keys(happenings), ...Object.keys(people)] as (
  | Happening
  | keyof typeof people
)[];
const events: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom(1_000, 65_000, 400_000, 3_700_000, -3_600_000) },
);

/** Between one pass and the next: what happens, and how many writes the pass makes before it crashes. */
export const histories = fc.array(
  fc.record({ events: fc.array(events, { maxLength: 3 }), writes: fc.constantFrom(0, 1, 2, 9, 9, 9) }),
  {
    maxLength: 14,
  },
);
