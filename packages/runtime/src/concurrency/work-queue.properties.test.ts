// Properties that hold for any order of adds, delays, failures and worker speeds. Time is manual, so thousands of schedules run in a
// second, and a failing one can be replayed from its seed.
import fc from "fast-check";
import { expect, it } from "vitest";
import { manualEnvironment } from "./manual-clock.ts";
import { runKeyed, WorkQueue } from "./work-queue.ts";

const key = fc.constantFrom("a/1", "a/2", "a/3", "b/1", "c/1");
const priority = fc.constantFrom(-1, 0, 5);
const event = fc.record({
  key,
  priority,
  delayMs: fc.constantFrom(0, 0, 0, 3, 50),
  kind: fc.constantFrom("add", "add", "fail"),
  respectBackoff: fc.boolean(),
  thenWaitMs: fc.constantFrom(0, 0, 1, 5, 20),
});
const scenario = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 60 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  workMs: fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 10 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;

interface Work {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** Runs a scenario to its end; returns the adds and the processed work items. */
async function play({ events, concurrency, workMs }: Scenario) {
  const environment = manualEnvironment();
  const { clock } = environment;
  const queue = new WorkQueue({ environment, groupOf: (name) => name.slice(0, 1) });
  const work: Work[] = [];
  const wishes: { readonly key: string; readonly notBefore: number }[] = [];
  let started = 0;
  const runner = runKeyed(queue, {
    concurrency,
    async work(lease) {
      const start = clock.monotonic();
      started += 1;
      await clock.sleep(workMs[started % workMs.length] ?? 0);
      work.push({ key: lease.key, start, end: clock.monotonic() });
    },
    onError: (error) => expect.unreachable(String(error)),
  });
  for (const { key, priority, delayMs, kind, respectBackoff, thenWaitMs } of events) {
    wishes.push({ key, notBefore: clock.monotonic() });
    const backoff = kind === "fail";
    queue.addAfter(key, backoff ? 64 : delayMs, { priority, backoff, respectBackoff: respectBackoff && !backoff });
    await clock.advance(thenWaitMs);
  }
  await clock.advance(10_000);
  const left = queue.stats();
  await queue.shutDown();
  await runner;
  return { work, wishes, left };
}

it("the work queue never has two workers process one key at the same time", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { work } = await play(given);
      for (const name of new Set(work.map((each) => each.key))) {
        const turns = work.filter((each) => each.key === name).toSorted((a, b) => a.start - b.start || a.end - b.end);
        for (const [at, turn] of turns.entries()) expect(turn.end).toBeLessThanOrEqual(turns[at + 1]?.start ?? turn.end);
      }
    }),
    { numRuns: 150 },
  );
});

it("the work queue loses no add: each is followed by work that started after it", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { work, wishes, left } = await play(given);
      expect(left).toMatchObject({ depth: 0, delayed: 0, running: 0 });
      for (const wish of wishes)
        expect(
          work.some((turn) => turn.key === wish.key && turn.start >= wish.notBefore),
          JSON.stringify(wish),
        ).toBe(true);
    }),
    { numRuns: 150 },
  );
});

it("the work queue processes a key at most as often as it was added", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { work, wishes } = await play(given);
      for (const { key: name } of wishes) {
        const count = (list: readonly { readonly key: string }[]) => list.filter((each) => each.key === name).length;
        expect(count(work)).toBeLessThanOrEqual(count(wishes));
      }
    }),
    { numRuns: 50 },
  );
});

it("the work queue serves an aged key within a bound under a constant overload of urgent keys", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 30 }), async (urgentPerTurn, patientKeys) => {
      const environment = manualEnvironment();
      const queue = new WorkQueue({ environment, ageAfterMs: 50, groupOf: (name) => name.slice(0, 1) });
      for (let at = 0; at < patientKeys; at += 1) queue.add(`p${at}`, { priority: -100 });
      const served = new Set<string>();
      let turns = 0;
      for (; served.size < patientKeys && turns < 1_000; turns += 1) {
        for (let at = 0; at < urgentPerTurn; at += 1) queue.add(`u${turns}.${at}`, { priority: 100 });
        using lease = await queue.get();
        if (lease?.key.startsWith("p")) served.add(lease.key);
        await environment.clock.advance(1);
      }
      expect(turns).toBeLessThanOrEqual(50 + 2 * patientKeys + 2);
    }),
    { numRuns: 30 },
  );
});
