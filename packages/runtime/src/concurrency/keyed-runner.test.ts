import { describe, expect, it } from "vitest";
import { runKeyed } from "./keyed-runner.ts";
import { manualEnvironment } from "./manual-clock.ts";
import { WorkQueue } from "./work-queue.ts";

describe("keyed runner", () => {
  it("works on as many keys at a time as it has workers", async () => {
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

  it("ends when the last worker does", async () => {
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

  it("goes on after work that threw, and gives the key back", async () => {
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

  it.each([0, -1, 1.5, Number.NaN])("refuses a concurrency of %d", async (concurrency) => {
    const queue = new WorkQueue({ environment: manualEnvironment() });
    const refused = runKeyed(queue, { concurrency, work: async () => {}, onError: () => {} });
    await expect(refused).rejects.toThrow(`expected concurrency to be a whole number of at least 1, found ${concurrency}`);
  });
});
