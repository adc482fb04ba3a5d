import { describe, expect, it } from "vitest";
import { manualEnvironment } from "./manual-clock.ts";
import { type Lease, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function workQueue(options: Partial<WorkQueueOptions> = {}) {
  const environment = manualEnvironment();
  return { clock: environment.clock, queue: new WorkQueue({ environment, ...options }) };
}
async function take(queue: WorkQueue): Promise<Lease> {
  const lease = await queue.get();
  if (lease === undefined) throw new Error("expected a lease, found the queue shut down");
  return lease;
}
async function drain(queue: WorkQueue): Promise<readonly string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    using lease = await take(queue);
    keys.push(lease.key);
  }
  return keys;
}

describe("adding", () => {
  it("queues a key once, however often it is added", async () => {
    const { queue } = workQueue();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(await drain(queue)).toEqual(["a", "b"]);
  });

  it("hands a key to whoever waits already", async () => {
    const { queue } = workQueue();
    const [first, second] = [take(queue), take(queue)];
    queue.add("a");
    queue.add("b");
    expect([(await first).key, (await second).key]).toEqual(["a", "b"]);
  });

  it("never gives out a key that is being worked on; it comes again afterwards, once", async () => {
    const { queue } = workQueue();
    queue.add("a");
    const lease = await take(queue);
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    lease.done();
    lease.done();
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("does not let a lease that is done give back a key that somebody else holds by now", async () => {
    const { queue } = workQueue();
    queue.add("a");
    const first = await take(queue);
    first.done();
    queue.add("a");
    await take(queue);
    first.done();
    queue.add("a");
    expect(queue.length).toBe(0);
  });

  it("keeps what was asked for a key that is being worked on: every reason, and the highest priority", async () => {
    const { queue } = workQueue();
    queue.add("a");
    const lease = await take(queue);
    queue.add("a", { reason: "pod changed", priority: 2 });
    queue.add("a", { reason: "secret changed" });
    lease.done();
    expect(await take(queue)).toMatchObject({ priority: 2, reasons: ["pod changed", "secret changed"] });
  });

  it("serves higher priorities first, and raises a key that waits", async () => {
    const { queue } = workQueue();
    queue.add("low", { priority: -1 });
    queue.add("raised", { priority: -1 });
    queue.add("normal");
    queue.add("raised", { priority: 1 });
    queue.add("raised", { priority: -5 });
    expect(await drain(queue)).toEqual(["raised", "normal", "low"]);
  });

  it("lets groups take turns", async () => {
    const { queue } = workQueue({ groupOf: (key) => key.slice(0, 1) });
    for (const key of ["a1", "a2", "a3", "b1"]) queue.add(key);
    queue.add("x", { group: "b" });
    expect(await drain(queue)).toEqual(["a1", "b1", "a2", "x", "a3"]);
  });

  it.each([
    { name: "a second", options: { ageAfterMs: 1_000 }, ageAfterMs: 1_000 },
    { name: "ten seconds unless told otherwise", options: {}, ageAfterMs: 10_000 },
  ])("gives keys that are old every second turn, whatever their priority: after $name", async ({ options, ageAfterMs }) => {
    const { clock, queue } = workQueue(options);
    queue.add("old 1", { priority: -1 });
    queue.add("old 2", { priority: -1 });
    await clock.advance(ageAfterMs);
    queue.add("new 1");
    queue.add("new 2");
    expect(await drain(queue)).toEqual(["old 1", "new 1", "old 2", "new 2"]);
  });
});

describe("adding for later", () => {
  it("holds a key back until it is due", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 1_000);
    await clock.advance(999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });

  const wishes = [
    { name: "now", delayMs: 0 },
    { name: "now, for a delay below zero", delayMs: -5 },
    { name: "now, for a delay that is not a number", delayMs: Number.NaN },
  ];
  it.each(wishes)("adds $name", ({ delayMs }) => {
    const { queue } = workQueue();
    queue.addAfter("a", delayMs);
    expect(queue.length).toBe(1);
  });

  it("keeps the earliest of several wishes", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 2_000);
    queue.addAfter("a", 1_000);
    queue.addAfter("a", 3_000);
    await clock.advance(1_000);
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(10_000);
    expect([queue.length, queue.stats().delayed]).toEqual([0, 0]);
  });

  it("lets an add for now fulfil a wish for later, and the other way round", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 1_000);
    queue.add("a");
    queue.addAfter("a", 1_000);
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(10_000);
    expect(queue.length).toBe(0);
  });

  it("puts nothing off for a key that comes again as soon as it is no more worked on", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    await take(queue);
    queue.add("a");
    queue.addAfter("a", 1_000);
    expect(clock.pending).toBe(0);
  });

  it("counts from the call when the key is being worked on", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    const lease = await take(queue);
    queue.addAfter("a", 1_000);
    await clock.advance(2_000);
    expect(queue.length).toBe(0);
    lease.done();
    expect(queue.length).toBe(1);
  });

  it("keeps priority, group and reason until then", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 10, { priority: 3, group: "g", reason: "check again" });
    await clock.advance(10);
    expect(await take(queue)).toMatchObject({ key: "a", priority: 3, group: "g", reasons: ["check again"] });
  });
});

describe("failing", () => {
  const backoff = { initialMs: 5, maxMs: 40 };

  it("waits longer each time, and from the beginning once it went well", () => {
    const { queue } = workQueue({ backoff });
    const delays = Array.from({ length: 5 }, () => queue.addRateLimited("a"));
    expect([delays, queue.failuresOf("a")]).toEqual([[5, 10, 20, 40, 40], 5]);
    expect(queue.addRateLimited("b")).toBe(5);
    queue.forget("a");
    expect([queue.failuresOf("a"), queue.addRateLimited("a")]).toEqual([0, 5]);
  });

  it("waits from 5 ms to 5 minutes and up to a tenth more, unless told otherwise", () => {
    const { queue } = workQueue();
    const delays = Array.from({ length: 30 }, () => queue.addRateLimited("a"));
    for (const [at, least] of [
      [0, 5],
      [1, 10],
      [16, 300_000],
      [29, 300_000],
    ] as const) {
      expect(delays[at]).toBeGreaterThan(least);
      expect(delays[at]).toBeLessThan(1.1 * least);
    }
  });

  it("tells the next one who works on it how often it failed", async () => {
    const { clock, queue } = workQueue({ backoff });
    queue.addRateLimited("a");
    await clock.advance(4);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect((await take(queue)).failures).toBe(1);
  });

  it("comes at once when a change makes another attempt worth while, and remembers its failures", async () => {
    const { queue } = workQueue({ backoff });
    queue.addRateLimited("a");
    queue.add("a");
    expect((await take(queue)).failures).toBe(1);
  });
});

describe("taking", () => {
  it("rejects with the signal's reason, and loses no key to whoever left", async () => {
    const { queue } = workQueue();
    const stop = new AbortController();
    const left = queue.get(stop.signal);
    const stayed = take(queue);
    stop.abort(new Error("enough"));
    queue.add("a");
    await expect(left).rejects.toThrow("enough");
    expect((await stayed).key).toBe("a");
    await expect(queue.get(stop.signal)).rejects.toThrow("enough");
  });

  it("says why a key was added: each reason once, and not more than eight", async () => {
    const { queue } = workQueue();
    for (let at = 0; at < 20; at += 1) queue.add("a", { reason: `pod ${Math.floor(at / 2)} changed` });
    queue.add("a", { priority: 1, reason: "pod 0 changed" });
    queue.add("b");
    queue.add("b");
    expect((await take(queue)).reasons).toEqual(Array.from({ length: 8 }, (_, at) => `pod ${at} changed`));
    expect((await take(queue)).reasons).toEqual([]);
  });

  it("says how long the key waited, also when it waited for its own lease", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    await clock.advance(30);
    const lease = await take(queue);
    expect(lease.waitedMs).toBe(30);
    queue.add("a");
    await clock.advance(20);
    lease.done();
    expect((await take(queue)).waitedMs).toBe(20);
  });
});

describe("shutting down", () => {
  it("waits for what is in hand, lets go of the rest and takes nothing more", async () => {
    const { clock, queue } = workQueue();
    queue.add("in hand");
    queue.add("in hand, too");
    const [lease, second] = [await take(queue), await take(queue)];
    queue.add("waiting");
    queue.addAfter("later", 10);
    queue.add("in hand");
    let drained = false;
    const end = queue.shutDown().then(() => {
      drained = true;
    });
    const sameEnd = queue.shutDown();
    queue.add("too late");
    queue.addAfter("too late", 1);
    expect(clock.pending).toBe(0);
    second.done();
    await clock.advance(100);
    expect(drained).toBe(false);
    lease.done();
    await Promise.all([end, sameEnd]);
    expect(queue.stats()).toMatchObject({ depth: 0, depthByPriority: new Map(), running: 0, oldestWaitMs: 0 });
    expect(await queue.get()).toBeUndefined();
  });

  it("sends those away who wait for a key", async () => {
    const { queue } = workQueue();
    const waiting = [queue.get(), queue.get()];
    await queue.shutDown();
    await queue.shutDown();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });
});

describe("figures", () => {
  it("tells an observer what happens", async () => {
    const seen: string[] = [];
    const { clock, queue } = workQueue({
      observer: {
        added: () => seen.push("added"),
        taken: (ms) => seen.push(`taken after ${ms}`),
        finished: (ms) => seen.push(`finished after ${ms}`),
        retried: () => seen.push("retried"),
      },
      backoff: { initialMs: 5, maxMs: 5 },
    });
    queue.add("a");
    queue.add("a", { priority: 1 });
    await clock.advance(7);
    const lease = await take(queue);
    await clock.advance(3);
    queue.addRateLimited("a");
    lease.done();
    await clock.advance(5);
    expect(seen).toEqual(["added", "taken after 7", "retried", "finished after 3", "added"]);
  });

  it("shows how the queue stands", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    await take(queue);
    await clock.advance(10);
    queue.add("b");
    await take(queue);
    queue.add("c");
    queue.add("d", { priority: 1 });
    queue.addAfter("e", 1_000);
    await clock.advance(5);
    expect(queue.stats()).toEqual({
      depth: 2,
      depthByPriority: new Map([
        [0, 1],
        [1, 1],
      ]),
      delayed: 1,
      running: 2,
      oldestWaitMs: 5,
      unfinishedMs: 20,
      longestRunningMs: 15,
    });
  });
});
