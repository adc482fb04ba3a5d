import { describe, expect, it } from "vitest";
import { MarkWaiters } from "./mark-waiters.ts";
import type { Mark } from "./own-writes.ts";

const ref = { namespace: "home", name: "a" };
const written = (resourceVersion: string): Mark => ({ type: "written", ref, listingsBegun: 0, uid: "u", resourceVersion });
const deleted: Mark = { type: "deleted", ref, listingsBegun: 0, uid: "u" };

/** Waiters for these marks; what is reached is said by hand, and every look is counted. */
function waiting(...marks: Mark[]) {
  const waiters = new MarkWaiters();
  const looks: number[] = marks.map(() => 0);
  const told: number[] = [];
  const reached = new Set<number>();
  const cancels = marks.map((mark, at) => {
    const look = () => {
      looks[at] = (looks[at] ?? 0) + 1;
      return reached.has(at);
    };
    return waiters.add(mark, look, () => told.push(at));
  });
  return { waiters, looks, told, reached, cancels };
}

describe("those who wait for a mark", () => {
  it("are not looked at before the cache has come so far, however many events pass", () => {
    const { waiters, looks, told, reached } = waiting(written("300"), written("200"), written("1000"));
    for (let version = 1; version < 200; version += 1) waiters.passed(`${version}`);
    expect(looks).toEqual([0, 0, 0]);
    reached.add(0).add(1);
    waiters.passed("300");
    expect([told, looks]).toEqual([
      [1, 0],
      [1, 1, 0],
    ]);
    waiters.passed("301");
    expect(looks).toEqual([1, 1, 0]);
  });

  it("wait on if they are not reached when the cache has come so far", () => {
    const { waiters, told, reached } = waiting(written("100"));
    waiters.passed("100");
    reached.add(0);
    waiters.passed("101");
    expect(told).toEqual([0]);
  });

  it("are looked at with every event if their mark has no version, or one without an order", () => {
    const { waiters, looks, told, reached } = waiting(deleted, written("opaque"));
    waiters.passed("1");
    reached.add(0).add(1);
    waiters.passed("2");
    waiters.passed("3");
    expect([told, looks]).toEqual([
      [0, 1],
      [2, 2],
    ]);
  });

  it("are all looked at after a listing, and those that are not reached wait on", () => {
    const { waiters, told, reached } = waiting(written("300"), deleted, written("400"));
    reached.add(0).add(1);
    waiters.lookAtAll();
    expect(told).toEqual([0, 1]);
    reached.add(2);
    waiters.passed("400");
    expect(told).toEqual([0, 1, 2]);
  });

  it("hear nothing after they have left, and do not stand in the way", () => {
    const { waiters, told, reached, cancels } = waiting(written("100"), written("200"));
    cancels[0]?.();
    reached.add(0).add(1);
    waiters.passed("200");
    expect(told).toEqual([1]);
  });
});
