// Simulated days of single containers, decided by the real decide() and withShrinks() every five minutes: with spec.shrink and without.
// For a small test and for the benchmark. What is compared:
//
//   reserved   the memory request, added up over time (GiB-hours): what the scheduler sets aside
//   used       usage, added up over the same time
//   kills      usage reached the limit
//
// A request covers the peak of the window with a margin of 20 %, so reserved ÷ used can be at most 1.3 only where the peak is at most
// 1.08 times the mean. `steady` marks the shapes for which that holds; for the others the ratio to the peak is what shrink can change.
import { bytes, MiB, mib } from "../model/bytes.ts";
import { anApp, anObservedContainer, anObservedPod, aPolicy, aRecord, aTemplate, now } from "../model/observed-app.fixture.ts";
import type { ObservedApp, Policy } from "../model/observed-app.ts";
import type { Memory } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { withShrinks } from "./shrink.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const stepMs = 300_000;
const sampleMs = 15_000;

export interface Shape {
  readonly name: string;
  /** MiB after so many milliseconds; `runningMs` since the last restart. */
  readonly uses: (atMs: number, runningMs: number) => number;
  /** Its peak is at most 1.08 times its mean. */
  readonly steady?: boolean;
  readonly window?: "Day" | "Week";
  /** Request and limit of the template, in MiB. @default 512 and 1024 */
  readonly template?: readonly [number, number];
}

const wave = (atMs: number, periodMs: number) => Math.sin((2 * Math.PI * atMs) / periodMs);
const hash = (atMs: number) => ((Math.floor(atMs / stepMs) * 2_654_435_761) % 1_000) / 1_000;
const isWeekend = (atMs: number) => Math.floor(atMs / dayMs) % 7 >= 5;

export const shapes: readonly Shape[] = [
  { name: "flat", steady: true, uses: () => 250 },
  { name: "flat with noise of 3 %", steady: true, uses: (at) => 250 * (1 + 0.03 * (hash(at) - 0.5)) },
  { name: "a warm-up to 600 MiB, then flat", steady: true, uses: (_, running) => Math.min(600, 100 + running / 6_000) },
  { name: "diurnal, ± 3 %", steady: true, uses: (at) => 300 * (1 + 0.03 * wave(at, dayMs)) },
  { name: "diurnal, ± 30 %", uses: (at) => 300 * (1 + 0.3 * wave(at, dayMs)) },
  { name: "diurnal, ± 60 %", uses: (at) => 300 * (1 + 0.6 * wave(at, dayMs)) },
  { name: "weekly, quiet weekends, window Day", uses: (at) => (isWeekend(at) ? 120 : 350) + 20 * wave(at, dayMs) },
  {
    name: "weekly, quiet weekends, window Week",
    window: "Week",
    uses: (at) => (isWeekend(at) ? 120 : 350) + 20 * wave(at, dayMs),
  },
  { name: "sawtooth of garbage collection", uses: (at) => 150 + (200 * (at % (2 * hourMs))) / (2 * hourMs) },
  { name: "grows by 2 % a day", uses: (at) => 200 * 1.02 ** (at / dayMs) },
  { name: "one busy day in two weeks", uses: (at) => (Math.floor(at / dayMs) % 14 === 9 ? 400 : 200) },
  { name: "leaks 12 MiB an hour", uses: (_, running) => 100 + (12 * running) / hourMs },
  { name: "leaks 1 MiB an hour", uses: (_, running) => 100 + running / hourMs },
];

export interface Lived {
  readonly reserved: number;
  readonly used: number;
  readonly kills: number;
  readonly raises: number;
  /** Steps downwards, and how many of them were undone. */
  readonly shrinks: number;
  readonly undone: number;
}

/** One container for so many days. */
export function liveDays(shape: Shape, days: number, shrink: boolean): Lived {
  const life = new Life(shape, shrink);
  for (let at = 0; at < days * dayMs; at += stepMs) life.step(at);
  return life.sum;
}

class Life {
  readonly #shape: Shape;
  readonly #policy: Policy;
  readonly #windowMs: number;
  readonly #template: Memory;
  /** MiB per step. */
  readonly #history: number[] = [];
  #has: Memory;
  #record = aRecord();
  #startedAt = 0;
  #kill: { readonly restart: number; readonly atMs: number; readonly stillDown: false } | undefined;
  sum: Lived = { reserved: 0, used: 0, kills: 0, raises: 0, shrinks: 0, undone: 0 };

  constructor(shape: Shape, shrink: boolean) {
    const [request, limit] = shape.template ?? [512, 1024];
    this.#shape = shape;
    this.#windowMs = shape.window === "Week" ? 7 * dayMs : dayMs;
    this.#template = { request: mib(request), limit: mib(limit) };
    this.#has = this.#template;
    this.#policy = aPolicy({
      strategy: "InPlace",
      ...(shrink && { shrink: { windowMs: this.#windowMs, margin: 0.2, belowTemplate: true } }),
    });
  }

  step(at: number): void {
    if (this.#usage(at) * MiB >= this.#has.limit) this.#die(at);
    const used = this.#usage(at);
    this.#history.push(used);
    const hours = stepMs / hourMs / 1024;
    const { reserved, used: before } = this.sum;
    this.sum = { ...this.sum, reserved: reserved + ((this.#has.request ?? 0) / MiB) * hours, used: before + used * hours };
    // The operator looks every 15 s: whatever a step starts is done long before the next one.
    for (let pass = 0; pass < 4 && this.#pass(at); pass += 1);
  }

  #usage(at: number): number {
    return this.#shape.uses(at, at - this.#startedAt);
  }

  #die(at: number): void {
    const kills = this.sum.kills + 1;
    this.sum = { ...this.sum, kills };
    this.#kill = { restart: kills - 1, atMs: now + at, stillDown: false };
    this.#startedAt = at;
  }

  /** Whether there was anything to do. */
  #pass(at: number): boolean {
    const seen = this.#seen(at);
    const { record, commands, shrinks } = withShrinks(seen, decide(seen));
    const states = (state: string) => record.shrinks.filter((each) => each.state === state).length;
    this.sum = { ...this.sum, raises: record.raises, undone: Math.max(this.sum.undone, states("Undone")) };
    this.#record = record;
    for (const command of commands) {
      const to = command.do === "resize" ? command.intent.changes[0]?.to : undefined;
      if (command.do !== "resize" || to === undefined) continue;
      const { limit, request } = this.#has;
      this.#has = {
        limit: command.step === "requests" ? limit : to.limit,
        request: command.step === "limits" ? request : to.request,
      };
    }
    if (shrinks?.command !== undefined) {
      const { from, to, state } = shrinks.command.shrink;
      this.#has = state === "Reverting" ? from : to;
      this.sum = { ...this.sum, shrinks: this.sum.shrinks + 1 };
    }
    return commands.length > 0 || shrinks?.command !== undefined;
  }

  #seen(at: number): ObservedApp {
    const samples = Array.from({ length: 8 }, (_, i) => (7 - i) * sampleMs)
      .filter((age) => at - age >= this.#startedAt)
      .map((ageMs) => ({ bytes: bytes(Math.round(this.#usage(at - ageMs) * MiB)), ageMs }));
    const steps = this.#windowMs / stepMs;
    const peak = bytes(Math.round(Math.max(...this.#history.slice(-steps)) * MiB));
    // A restart begins a new series, and the window is not covered until it is as long.
    const covered = Math.min(this.#windowMs, at - this.#startedAt) / sampleMs;
    const container = anObservedContainer({
      ...{ limit: this.#has.limit, request: this.#has.request, samples, restarts: this.sum.kills, oomKill: this.#kill },
      window: { peak, samples: Math.floor(covered), lengthMs: this.#windowMs },
    });
    return anApp({
      ...{ nowMs: now + at, policies: [this.#policy], record: this.#record },
      pods: [anObservedPod({ createdAtMs: now, containers: [container] })],
      template: aTemplate({ containers: [{ name: "memhog", ...this.#template }] }),
      cluster: { inPlace: true, resizeAfterOomKill: true, lowersLimits: true },
    });
  }
}
