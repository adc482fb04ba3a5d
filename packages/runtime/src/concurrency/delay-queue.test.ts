import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DelayQueue } from "./delay-queue.ts";
import { manualClock } from "./manual-clock.ts";

function delayQueue() {
  const clock = manualClock();
  const due: string[] = [];
  const queue = new DelayQueue<string>({ clock, onDue: (key, value) => due.push(`${key}=${value}@${clock.monotonic()}`) });
  return { clock, queue, due };
}

describe("delay queue", () => {
  it("releases keys when they are due, in order of due time", async () => {
    const { clock, queue, due } = delayQueue();
    queue.put("late", 30, "x");
    queue.put("soon", 10, "x");
    queue.put("later", 40, "x");
    await clock.advance(35);
    expect(due).toEqual(["soon=x@10", "late=x@30"]);
    expect(queue.size).toBe(1);
  });

  it("keeps the earlier of two due times for a key, with its value", async () => {
    const { clock, queue, due } = delayQueue();
    queue.put("a", 20, "second thought");
    queue.put("a", 10, "earlier");
    queue.put("a", 30, "later");
    await clock.advance(100);
    expect(due).toEqual(["a=earlier@10"]);
  });

  it("does not release a removed key, and accepts it again", async () => {
    const { clock, queue, due } = delayQueue();
    queue.put("a", 10, "first");
    queue.delete("a");
    queue.put("a", 20, "second");
    await clock.advance(100);
    expect(due).toEqual(["a=second@20"]);
  });

  it("keeps a due time while other keys are added and removed a thousand times", async () => {
    const { clock, queue, due } = delayQueue();
    queue.put("b", 5_000, "steady");
    for (let round = 0; round < 1_000; round += 1) {
      queue.put("a", 10_000 - round, "again");
      queue.delete("a");
    }
    queue.put("a", 4_000, "last");
    await clock.advance(20_000);
    expect(due).toEqual(["a=last@4000", "b=steady@5000"]);
  });

  it("uses one timer for any number of keys, and none after clear", () => {
    const { clock, queue } = delayQueue();
    for (let at = 0; at < 100; at += 1) queue.put(`key ${at}`, 1_000 - at, "");
    expect(clock.pending).toBe(1);
    queue.clear();
    expect([queue.size, clock.pending]).toEqual([0, 0]);
    queue.put("key", 2_000, "");
    expect([queue.size, clock.pending]).toEqual([1, 1]);
  });

  it("accepts a key that is added from its own callback", async () => {
    const clock = manualClock();
    const times: number[] = [];
    const queue = new DelayQueue<undefined>({
      clock,
      onDue(key) {
        times.push(clock.monotonic());
        if (times.length < 3) queue.put(key, 10, undefined);
      },
    });
    queue.put("a", 10, undefined);
    await clock.advance(100);
    expect(times).toEqual([10, 20, 30]);
  });

  it("matches a simple model for any sequence of puts and deletes", async () => {
    const key = fc.constantFrom("a", "b", "c");
    const operation = fc.oneof(
      fc.record({ put: key, delay: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ delete: key }),
      fc.record({ advance: fc.integer({ min: 0, max: 30 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 200 }), async (operations) => {
        const { clock, queue, due } = delayQueue();
        const wishes = new Map<string, number>();
        const expected: string[] = [];
        for (const next of operations) {
          if ("put" in next) {
            queue.put(next.put, next.delay, "");
            wishes.set(next.put, Math.min(wishes.get(next.put) ?? Number.POSITIVE_INFINITY, clock.monotonic() + next.delay));
          } else if ("delete" in next) {
            queue.delete(next.delete);
            wishes.delete(next.delete);
          } else {
            await clock.advance(next.advance);
            for (const [wish, at] of wishes) {
              if (at > clock.monotonic()) continue;
              expected.push(`${wish}=@${at}`);
              wishes.delete(wish);
            }
          }
        }
        expect(due.toSorted()).toEqual(expected.toSorted());
        expect(queue.size).toBe(wishes.size);
      }),
      { numRuns: 50 },
    );
  });
});
