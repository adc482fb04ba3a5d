import { describe, expect, it } from "vitest";
import { manualEnvironment } from "./manual-clock.ts";
import { runKeyed, type WorkItem, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function workQueue(options: Partial<WorkQueueOptions> = {}) {
  const environment = manualEnvironment();
  return { clock: environment.clock, queue: new WorkQueue({ environment, ...options }) };
}
async function take(queue: WorkQueue): Promise<WorkItem> {
  const item = await queue.get();
  if (item === undefined) throw new Error("expected a item, found the queue shut down");
  return item;
}
async function drain(queue: WorkQueue): Promise<readonly string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    using item = await take(queue);
    keys.push(item.key);
  }
  return keys;
}

describe("WorkQueue.add", () => {
  it("queues a key once, regardless of how often it is added", async () => {
    const { queue } = workQueue();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    expect(await drain(queue)).toEqual(["a", "b"]);
  });

  it("passes a key to a worker that already waits", async () => {
    const { queue } = workQueue();
    const [first, second] = [take(queue), take(queue)];
    queue.add("a");
    queue.add("b");
    expect([(await first).key, (await second).key]).toEqual(["a", "b"]);
  });

  it("never hands out a key that is being processed, and queues it once afterwards", async () => {
    const { queue } = workQueue();
    queue.add("a");
    const item = await take(queue);
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    item.done();
    item.done();
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("ignores done() of an item whose key another worker has taken since", async () => {
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

  it("keeps all reasons and the highest priority of adds while the key is being processed", async () => {
    const { queue } = workQueue();
    queue.add("a");
    const item = await take(queue);
    queue.add("a", { reason: "pod changed", priority: 2 });
    queue.add("a", { reason: "secret changed" });
    item.done();
    expect(await take(queue)).toMatchObject({ priority: 2, reasons: ["pod changed", "secret changed"] });
  });

  it("serves higher priorities first and raises the priority of a waiting key", async () => {
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
    { name: "ageAfterMs", options: { ageAfterMs: 1_000 }, ageAfterMs: 1_000 },
    { name: "ten seconds by default", options: {}, ageAfterMs: 10_000 },
  ])("gives aged keys every second turn, regardless of their priority: after $name", async ({ options, ageAfterMs }) => {
    const { clock, queue } = workQueue(options);
    queue.add("old 1", { priority: -1 });
    queue.add("old 2", { priority: -1 });
    await clock.advance(ageAfterMs);
    queue.add("new 1");
    queue.add("new 2");
    expect(await drain(queue)).toEqual(["old 1", "new 1", "old 2", "new 2"]);
  });
});

describe("WorkQueue.addAfter", () => {
  it("holds a key until it is due", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 1_000);
    await clock.advance(999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });

  const wishes = [
    { name: "for a delay of 0", delayMs: 0 },
    { name: "for a negative delay", delayMs: -5 },
    { name: "for a delay that is not a number", delayMs: Number.NaN },
  ];
  it.each(wishes)("adds the key immediately $name", ({ delayMs }) => {
    const { queue } = workQueue();
    queue.addAfter("a", delayMs);
    expect(queue.length).toBe(1);
  });

  it("keeps the earliest of several due times", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 2_000);
    queue.addAfter("a", 1_000);
    queue.addAfter("a", 3_000);
    await clock.advance(1_000);
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(10_000);
    expect([queue.length, queue.stats().delayed]).toEqual([0, 0]);
  });

  it("lets add replace an earlier addAfter, and ignores addAfter for a waiting key", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 1_000);
    queue.add("a");
    queue.addAfter("a", 1_000);
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(10_000);
    expect(queue.length).toBe(0);
  });

  it("does not delay a key that is queued again once its work item is done", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    await take(queue);
    queue.add("a");
    queue.addAfter("a", 1_000);
    expect(clock.pending).toBe(0);
  });

  it("counts the delay from the call while the key is being processed", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    const item = await take(queue);
    queue.addAfter("a", 1_000);
    await clock.advance(2_000);
    expect(queue.length).toBe(0);
    item.done();
    expect(queue.length).toBe(1);
  });

  it("keeps priority, group and reason while the key is delayed", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 10, { priority: 3, group: "g", reason: "check again" });
    await clock.advance(10);
    expect(await take(queue)).toMatchObject({ key: "a", priority: 3, group: "g", reasons: ["check again"] });
  });
});

describe("WorkQueue backoff", () => {
  const failed = (queue: WorkQueue) => queue.addAfter("a", 5, { backoff: true });

  it("is not shortened by add with respectBackoff, and ends with add without it", async () => {
    const { clock, queue } = workQueue();
    failed(queue);
    await clock.advance(4);
    queue.add("a", { respectBackoff: true, priority: 9 });
    expect([queue.length, queue.stats().delayed]).toEqual([0, 1]);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(["a"]);
    failed(queue);
    queue.add("a", { respectBackoff: true });
    queue.add("a");
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(100);
    expect(queue.length).toBe(0);
  });

  it("does not apply to a requested delay or to an earlier backoff", async () => {
    const { clock, queue } = workQueue();
    queue.addAfter("a", 3_600_000);
    queue.add("a", { respectBackoff: true });
    expect(await drain(queue)).toEqual(["a"]);
    failed(queue);
    await clock.advance(5);
    expect(await drain(queue)).toEqual(["a"]);
    queue.add("a", { respectBackoff: true });
    expect(await drain(queue)).toEqual(["a"]);
  });

  it.each([
    { name: "with respectBackoff waits for the backoff", adds: [{ respectBackoff: true }], length: 0 },
    { name: "with respectBackoff and then without is queued immediately", adds: [{ respectBackoff: true }, {}], length: 1 },
    {
      name: "without respectBackoff and then with is queued immediately",
      adds: [{}, { respectBackoff: true, priority: 1 }],
      length: 1,
    },
  ])("a key that was added $name, if it failed afterwards", async ({ adds, length }) => {
    const { clock, queue } = workQueue();
    queue.add("a");
    const item = await take(queue);
    for (const options of adds) queue.add("a", options);
    failed(queue);
    item.done();
    expect([queue.length, queue.stats().delayed]).toEqual([length, 1 - length]);
    await clock.advance(5);
    expect(await drain(queue)).toEqual(["a"]);
    // The same for a key that waits.
    for (const options of adds) queue.add("a", options);
    failed(queue);
    expect([queue.length, queue.stats().delayed]).toEqual([length, 1 - length]);
    await clock.advance(5);
    expect(await drain(queue)).toEqual(["a"]);
    expect(queue.stats().depthByPriority).toEqual(new Map());
  });
});

describe("WorkQueue.get", () => {
  it("rejects with the signal's reason and loses no key to the aborted caller", async () => {
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

  it("reports why a key was added: distinct reasons, at most eight", async () => {
    const { queue } = workQueue();
    for (let at = 0; at < 20; at += 1) queue.add("a", { reason: `pod ${Math.floor(at / 2)} changed` });
    queue.add("a", { priority: 1, reason: "pod 0 changed" });
    queue.add("b");
    queue.add("b");
    expect((await take(queue)).reasons).toEqual(Array.from({ length: 8 }, (_, at) => `pod ${at} changed`));
    expect((await take(queue)).reasons).toEqual([]);
  });

  it("reports how long the key waited, including the wait for its own work item", async () => {
    const { clock, queue } = workQueue();
    queue.add("a");
    await clock.advance(30);
    const item = await take(queue);
    expect(item.waitedMs).toBe(30);
    queue.add("a");
    await clock.advance(20);
    item.done();
    expect((await take(queue)).waitedMs).toBe(20);
  });
});

describe("WorkQueue.shutDown", () => {
  it("waits for work items in progress, drops waiting keys and accepts no more", async () => {
    const { clock, queue } = workQueue();
    queue.add("in hand");
    queue.add("in hand, too");
    const [item, second] = [await take(queue), await take(queue)];
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
    item.done();
    await Promise.all([end, sameEnd]);
    expect(queue.stats()).toMatchObject({ depth: 0, depthByPriority: new Map(), running: 0, oldestWaitMs: 0 });
    expect(await queue.get()).toBeUndefined();
  });

  it("resolves waiting workers with undefined", async () => {
    const { queue } = workQueue();
    const waiting = [queue.get(), queue.get()];
    await queue.shutDown();
    await queue.shutDown();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });
});

describe("WorkQueue metrics", () => {
  it("reports events to the observer", async () => {
    const seen: string[] = [];
    const { clock, queue } = workQueue({
      observer: {
        added: () => seen.push("added"),
        taken: (ms) => seen.push(`taken after ${ms}`),
        finished: (ms) => seen.push(`finished after ${ms}`),
      },
    });
    queue.add("a");
    queue.add("a", { priority: 1 });
    await clock.advance(7);
    const item = await take(queue);
    await clock.advance(3);
    queue.addAfter("a", 5);
    item.done();
    await clock.advance(5);
    expect(seen).toEqual(["added", "taken after 7", "finished after 3", "added"]);
  });

  it("reports the current state in stats()", async () => {
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

describe("runKeyed", () => {
  it("processes as many keys at a time as it has workers", async () => {
    const environment = manualEnvironment();
    const queue = new WorkQueue({ environment });
    let most = 0;
    const runner = runKeyed(queue, {
      concurrency: 3,
      async work() {
        most = Math.max(most, queue.stats().running);
        await environment.clock.sleep(10);
      },
      onError: () => expect.unreachable(),
    });
    for (let at = 0; at < 10; at += 1) queue.add(`key ${at}`);
    await environment.clock.advance(100);
    expect([most, queue.stats().running]).toEqual([3, 0]);
    await queue.shutDown();
    await runner;
  });

  it("resolves when the last worker ends", async () => {
    const environment = manualEnvironment();
    const queue = new WorkQueue({ environment });
    let ended = false;
    const runner = runKeyed(queue, {
      concurrency: 2,
      work: () => environment.clock.sleep(10),
      onError: () => expect.unreachable(),
    }).then(() => {
      ended = true;
    });
    queue.add("key");
    await environment.clock.advance(0);
    queue.shutDown();
    await environment.clock.advance(9);
    expect(ended).toBe(false);
    await environment.clock.advance(1);
    await runner;
  });

  it("continues after an error in work and releases the key", async () => {
    const queue = new WorkQueue({ environment: manualEnvironment() });
    const failed: string[] = [];
    const worked: string[] = [];
    const runner = runKeyed(queue, {
      async work({ key }) {
        if (key === "poison" && failed.length === 0) throw new Error("bad object");
        worked.push(key);
        if (worked.length === 2) queue.shutDown();
      },
      onError(error, { key }) {
        failed.push(`${key}: ${error}`);
        queue.add(key);
      },
    });
    queue.add("poison");
    queue.add("fine");
    await runner;
    expect(failed).toEqual(["poison: Error: bad object"]);
    expect(worked).toEqual(["fine", "poison"]);
  });

  it.each([0, -1, 1.5, Number.NaN])("rejects a concurrency of %d", async (concurrency) => {
    const queue = new WorkQueue({ environment: manualEnvironment() });
    const refused = runKeyed(queue, { concurrency, work: async () => {}, onError: () => {} });
    await expect(refused).rejects.toThrow(`expected concurrency to be a whole number of at least 1, found ${concurrency}`);
  });
});
