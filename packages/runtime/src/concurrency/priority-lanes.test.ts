import { describe, expect, it } from "vitest";
import { type PrioritizedItem, PriorityLanes } from "./priority-lanes.ts";

const ageAfterMs = 100;
type Item = PrioritizedItem & { readonly name: string };
const item = (name: string, { priority = 0, since = 0, group = "g" } = {}): Item => ({
  name,
  priority,
  since,
  group,
  gone: false,
});
function lanesOf(...items: readonly Item[]) {
  const lanes = new PriorityLanes<Item>(ageAfterMs);
  for (const each of items) lanes.add(each);
  return lanes;
}
const drain = (lanes: PriorityLanes<Item>, now: number) => Array.from({ length: lanes.size }, () => lanes.take(now)?.name);

describe("priority lanes", () => {
  it("serve the higher priority first while nobody is old", () => {
    const lanes = lanesOf(item("low", { priority: -1 }), item("first"), item("high", { priority: 5 }), item("second"));
    expect(drain(lanes, 99)).toEqual(["high", "first", "second", "low"]);
    expect(drain(lanesOf(item("low", { since: 500 }), item("high", { since: 500, priority: 5 })), 550)).toEqual(["high", "low"]);
  });

  it("give every second turn to the old", () => {
    const fresh = ["f1", "f2", "f3"].map((name) => item(name, { since: 90, priority: 1 }));
    const old = ["o1", "o2"].map((name) => item(name, { since: 0 }));
    expect(drain(lanesOf(...fresh, ...old), 100)).toEqual(["o1", "f1", "o2", "f2", "f3"]);
  });

  it("are fair to groups among the old, too", () => {
    const old = ["a", "a", "a", "b"].map((group, at) => item(`${group}${at}`, { group }));
    const fresh = Array.from({ length: 4 }, (_, at) => item(`f${at}`, { priority: 1, since: 100 }));
    expect(drain(lanesOf(...old, ...fresh), 100)).toEqual(["a0", "f0", "b3", "f1", "a1", "f2", "a2", "f3"]);
  });

  it("do not let urgent work starve the rest, however much of it keeps coming", () => {
    const lanes = lanesOf(item("patient", { priority: -10 }));
    const taken: (string | undefined)[] = [];
    for (let now = 0; now < 200 && !taken.includes("patient"); now += 1) {
      lanes.add(item("urgent", { priority: 10, since: now }));
      lanes.add(item("urgent", { priority: 10, since: now }));
      taken.push(lanes.take(now)?.name);
    }
    expect(taken.indexOf("patient")).toBeGreaterThanOrEqual(ageAfterMs);
    expect(taken.indexOf("patient")).toBeLessThanOrEqual(ageAfterMs + 2);
  });

  it("count what waits, by priority, and keep no lane for nobody", () => {
    const withdrawn = item("b", { priority: 7 });
    const lanes = lanesOf(item("a"), withdrawn, item("c"));
    expect(lanes.sizes()).toEqual(
      new Map([
        [0, 2],
        [7, 1],
      ]),
    );
    lanes.withdraw(withdrawn);
    lanes.take(0);
    expect([lanes.size, lanes.sizes()]).toEqual([1, new Map([[0, 1]])]);
  });

  it("know when the oldest began to wait", () => {
    const lanes = lanesOf(item("young", { since: 5, priority: 3 }), item("old", { since: 2 }));
    expect(lanes.oldestSince()).toBe(2);
    expect(lanesOf().oldestSince()).toBeUndefined();
  });

  it("have nothing to give when empty", () => expect(lanesOf().take(0)).toBeUndefined());
});
