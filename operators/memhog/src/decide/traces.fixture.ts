// Labelled traces of memory usage, and what memhog makes of them: every trace runs through the real decide() on a manual clock, in the
// small world of world.fixture.ts. The traces are generated. They are as noisy as we have seen programs to be, and no noisier.
import { bytes, MiB, mib } from "../model/bytes.ts";
import { aNode, anApp, anObservedContainer, anObservedPod, aPolicy, aTemplate, now } from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedPod, Policy, Sample } from "../model/observed-app.ts";
import type { Stop } from "../model/plan.ts";
import { pass, type Run, settled } from "./world.fixture.ts";

export interface Trace {
  /** MiB in use so many seconds after the start of the container, which has this limit in MiB. */
  readonly uses: (second: number, limit: number) => number;
  readonly hours: number;
  readonly everySeconds: number;
  readonly policy?: Partial<Policy>;
}

export interface Shape {
  readonly name: string;
  /** Whether memhog should stop raising it. */
  readonly isLeak: boolean;
  readonly trace: (random: () => number) => Trace;
}

/** From one number to another, on a logarithmic scale. */
const between = (random: () => number, from: number, to: number): number => from * (to / from) ** random();

/** Noise that is the same whenever it is asked about the same second: usage at a time does not depend on who looks. */
function noiseOf(random: () => number, share: number): (second: number) => number {
  const salt = random() * 1000;
  const at = (step: number) => {
    const x = Math.sin(step * 12.9898 + salt) * 43758.5453;
    return 2 * (x - Math.floor(x)) - 1;
  };
  return (second) => 1 + share * at(Math.floor(second / 30));
}

const saw = (second: number, period: number): number => (second % period) / period;
const hour = 3600;

export const shapes: readonly Shape[] = [
  { name: "slow leak", isLeak: true, trace: (random) => leak(random, between(random, 0.05, 0.5)) },
  { name: "fast leak", isLeak: true, trace: (random) => leak(random, between(random, 0.5, 10)) },
  {
    name: "leak in steps",
    isLeak: true,
    trace: (random) => {
      const [base, step, period] = [between(random, 50, 200), between(random, 20, 80), between(random, 300, 3600)];
      const noise = noiseOf(random, 0.01);
      return {
        uses: (t) => (base + step * Math.floor(t / period)) * noise(t),
        hours: hoursTo(4000, step / period),
        everySeconds: 60,
      };
    },
  },
  {
    name: "leak under garbage collection",
    isLeak: true,
    trace: (random) => {
      const [base, rate, period] = [between(random, 50, 150), between(random, 0.1, 1), between(random, 120, 900)];
      const height = between(random, 0.05, 0.2);
      return { uses: (t) => (base + rate * t) * (1 + height * saw(t, period)), hours: hoursTo(4000, rate), everySeconds: 30 };
    },
  },
  {
    name: "load at the start, then constant",
    isLeak: false,
    trace: (random) => {
      const [rate, level, noise] = [between(random, 1, 20), between(random, 150, 2000), noiseOf(random, 0.02)];
      return { uses: (t) => Math.min(20 + rate * t, level) * noise(t), hours: 3, everySeconds: 15 };
    },
  },
  {
    name: "warm-up",
    isLeak: false,
    trace: (random) => {
      const [level, tau, noise] = [between(random, 200, 1500), between(random, 120, 1800), noiseOf(random, 0.02)];
      return { uses: (t) => level * (1 - Math.exp(-t / tau)) * noise(t), hours: 6, everySeconds: 15 };
    },
  },
  {
    name: "garbage collection",
    isLeak: false,
    trace: (random) => {
      const [floor, peak, period] = [between(random, 60, 200), between(random, 250, 2000), between(random, 60, 3600)];
      return { uses: (t) => floor + (peak - floor) * saw(t, period), hours: 12, everySeconds: 15 };
    },
  },
  {
    name: "day and night",
    isLeak: false,
    trace: (random) => {
      const [base, more, noise] = [between(random, 100, 300), between(random, 100, 1500), noiseOf(random, 0.05)];
      return { uses: (t) => (base + more * Math.sin((Math.PI * t) / (24 * hour)) ** 2) * noise(t), hours: 72, everySeconds: 60 };
    },
  },
  {
    name: "more users every day",
    isLeak: false,
    trace: (random) => {
      const [base, daily, dip] = [between(random, 100, 250), between(random, 1.2, 2), between(random, 0.35, 0.8)];
      const noise = noiseOf(random, 0.05);
      const load = (t: number) => daily ** (t / (24 * hour)) * (1 - dip * Math.cos((Math.PI * t) / (24 * hour)) ** 2);
      return { uses: (t) => base * (0.3 + load(t)) * noise(t), hours: 120, everySeconds: 60 };
    },
  },
  {
    name: "bursts",
    isLeak: false,
    trace: (random) => {
      const [base, high, every] = [between(random, 80, 200), between(random, 250, 1500), between(random, 1800, 4 * hour)];
      const lasts = between(random, 120, 1200);
      return { uses: (t) => (t % every > every - lasts ? high : base), hours: 24, everySeconds: 15 };
    },
  },
  {
    name: "cache that fills up",
    isLeak: false,
    trace: (random) => {
      const [level, tau, noise] = [between(random, 300, 2500), between(random, hour, 6 * hour), noiseOf(random, 0.02)];
      return { uses: (t) => (60 + level * (1 - Math.exp(-t / tau))) * noise(t), hours: 48, everySeconds: 60 };
    },
  },
  {
    name: "heap in proportion to the limit, redeployed",
    isLeak: true,
    trace: (random) => {
      const [share, rate, fixed] = [between(random, 0.76, 0.9), between(random, 2, 200), between(random, 1, 40)];
      return {
        uses: (t, limit) => Math.min(fixed + rate * t, share * limit),
        ...{ hours: 3, everySeconds: 15, policy: { strategy: "Redeploy" } },
      };
    },
  },
];

/**
 * Healthy programs that need more than memhog grants without maxMemory: 8 times the original limit, so usage of 2304Mi at the default
 * threshold. `maxMemory` is set in half of them.
 */
export const largeShapes: readonly Shape[] = [undefined, mib(12_288)].flatMap((maxMemory) => {
  const shape = (name: string, trace: Shape["trace"]): Shape => ({
    name: maxMemory === undefined ? name : `${name}, maxMemory 12Gi`,
    isLeak: false,
    trace: (random) => ({ ...trace(random), ...(maxMemory !== undefined && { policy: { maxMemory } }) }),
  });
  return [
    shape("large cache that fills up", (random) => {
      const [level, tau, noise] = [between(random, 3000, 8000), between(random, hour, 6 * hour), noiseOf(random, 0.02)];
      return { uses: (t) => (60 + level * (1 - Math.exp(-t / tau))) * noise(t), hours: 48, everySeconds: 60 };
    }),
    shape("large load at the start, then constant", (random) => {
      const [rate, level, noise] = [between(random, 1, 20), between(random, 3000, 8000), noiseOf(random, 0.02)];
      return { uses: (t) => Math.min(20 + rate * t, level) * noise(t), hours: 6, everySeconds: 15 };
    }),
    shape("large garbage collection", (random) => {
      const [floor, peak, period] = [between(random, 200, 800), between(random, 3000, 8000), between(random, 600, 3600)];
      return { uses: (t) => floor + (peak - floor) * saw(t, period), hours: 12, everySeconds: 15 };
    }),
    shape("more users every day, to more than 8 times", (random) => {
      const [base, most, dip] = [between(random, 100, 250), between(random, 3000, 8000), between(random, 0.35, 0.8)];
      const [noise, days] = [noiseOf(random, 0.05), 10];
      const load = (t: number) =>
        (most / base) ** (t / (days * 24 * hour)) * (1 - dip * Math.cos((Math.PI * t) / (24 * hour)) ** 2);
      return { uses: (t) => base * (0.3 + load(t)) * noise(t), hours: days * 24, everySeconds: 60 };
    }),
  ];
});

function leak(random: () => number, rate: number): Trace {
  const [base, noise] = [between(random, 50, 200), noiseOf(random, 0.01)];
  return {
    uses: (t) => (base + rate * t) * noise(t),
    hours: hoursTo(4000, rate),
    everySeconds: rate > 2 ? 15 : rate > 0.5 ? 30 : 60,
  };
}

const hoursTo = (mibs: number, perSecond: number): number => mibs / perSecond / hour;

// Running a trace.

export interface Outcome {
  /** The reason of the first stop. */
  readonly stopped: Stop["reason"] | undefined;
  readonly kills: number;
  /** In MiB, ascending. The last one is that of the stop, if there was one: nothing is raised after it. */
  readonly limits: readonly number[];
}

interface Lived {
  readonly startedAt: number;
  /** `ageMs` is the time since the trace began. */
  readonly taken: readonly Sample[];
}

/** Starts with 256Mi/384Mi on a node of 16Gi, without maxMemory unless the trace has it. */
export function runTrace({ uses, hours, everySeconds, policy = {} }: Trace): Outcome {
  let run: Run = { world: startOf(policy), effects: [] };
  const lives = new Map<string, Lived>();
  const limits = [384];
  let stopped: Stop["reason"] | undefined;
  for (let second = 0; second <= hours * hour; second += everySeconds) {
    const looked = look({ ...run.world, nowMs: now + second * 1000 }, lives, { uses, second });
    const next = pass({ ...run, world: looked });
    run = { effects: next.effects, world: settled(next.world) };
    const limit = (run.world.pods[0]?.containers[0]?.limit ?? 0) / MiB;
    if (limit > (limits.at(-1) ?? 0)) limits.push(limit);
    stopped ??= run.world.record.stops[0]?.reason;
  }
  return { stopped, kills: run.world.record.oomKills, limits };
}

function startOf(policy: Partial<Policy>): ObservedApp {
  const container = anObservedContainer({ samples: [] });
  return anApp({
    policies: [aPolicy(policy)],
    template: aTemplate(),
    pods: [anObservedPod({ createdAtMs: now, containers: [container], node: aNode({ allocatable: mib(16_384) }) })],
  });
}

/** The world with the samples of this moment. A container that uses its limit is OOM-killed and starts anew. */
function look(
  world: ObservedApp,
  lives: Map<string, Lived>,
  { uses, second }: Pick<Trace, "uses"> & { readonly second: number },
): ObservedApp {
  const sampled = (pod: ObservedPod): ObservedPod => {
    const [container] = pod.containers;
    if (container === undefined) return pod;
    const limit = container.limit ?? 0;
    const life = lives.get(pod.uid) ?? { startedAt: second, taken: [] };
    const used = uses(second - life.startedAt, limit / MiB) * MiB;
    if (used >= limit) {
      lives.set(pod.uid, { startedAt: second, taken: [] });
      const oomKill = { restart: container.restarts, atMs: world.nowMs, stillDown: false };
      return { ...pod, containers: [{ ...container, samples: [], restarts: container.restarts + 1, oomKill }] };
    }
    const taken = [...life.taken, { bytes: bytes(Math.round(used)), ageMs: second * 1000 }].slice(-8);
    lives.set(pod.uid, { ...life, taken });
    const samples = taken.map((sample) => ({ ...sample, ageMs: second * 1000 - sample.ageMs + seenAfterMs }));
    return { ...pod, containers: [{ ...container, samples: samples.filter(({ ageMs }) => ageMs <= 120_000 + seenAfterMs) }] };
  };
  return { ...world, pods: world.pods.map(sampled) };
}

const seenAfterMs = 3_000;
