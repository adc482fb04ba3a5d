import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairLane, type PrioritizedItem, PriorityLanes } from "./priority-lanes.ts";

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
  it("serve the higher priority first while no item has aged", () => {
    const lanes = lanesOf(item("low", { priority: -1 }), item("first"), item("high", { priority: 5 }), item("second"));
    expect(drain(lanes, 99)).toEqual(["high", "first", "second", "low"]);
    expect(drain(lanesOf(item("low", { since: 500 }), item("high", { since: 500, priority: 5 })), 550)).toEqual(["high", "low"]);
  });

  it("give every second turn to aged items", () => {
    const fresh = ["f1", "f2", "f3"].map((name) => item(name, { since: 90, priority: 1 }));
    const old = ["o1", "o2"].map((name) => item(name, { since: 0 }));
    expect(drain(lanesOf(...fresh, ...old), 100)).toEqual(["o1", "f1", "o2", "f2", "f3"]);
  });

  it("are fair to groups among aged items", () => {
    const old = ["a", "a", "a", "b"].map((group, at) => item(`${group}${at}`, { group }));
    const fresh = Array.from({ length: 4 }, (_, at) => item(`f${at}`, { priority: 1, since: 100 }));
    expect(drain(lanesOf(...old, ...fresh), 100)).toEqual(["a0", "f0", "b3", "f1", "a1", "f2", "a2", "f3"]);
  });

  it("do not starve low-priority items, regardless of how many urgent items arrive", () => {
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

  it("count waiting items by priority and remove empty lanes", () => {
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

  it("report when the oldest item was queued", () => {
    const lanes = lanesOf(item("young", { since: 5, priority: 3 }), item("old", { since: 2 }));
    expect(lanes.oldestSince()).toBe(2);
    expect(lanesOf().oldestSince()).toBeUndefined();
  });

  it("return undefined when empty", () => expect(lanesOf().take(0)).toBeUndefined());
});

const laneItem = (name: string) => ({ name, group: name.slice(0, 1), gone: false });
const laneOf = (names: readonly string[]) => {
  const lane = new FairLane<ReturnType<typeof laneItem>>();
  for (const name of names) lane.add(laneItem(name));
  return lane;
};
const drainLane = (lane: ReturnType<typeof laneOf>) => Array.from({ length: lane.size }, () => lane.take()?.name);

describe("fair lane", () => {
  const cases = [
    { name: "is first in, first out within a group", added: ["a1", "a2", "a3"], taken: ["a1", "a2", "a3"] },
    {
      name: "lets groups take turns, so a single item never waits for a large group",
      added: ["a1", "a2", "a3", "b1"],
      taken: ["a1", "b1", "a2", "a3"],
    },
    { name: "takes turns among many groups", added: ["a1", "a2", "b1", "b2", "c1"], taken: ["a1", "b1", "c1", "a2", "b2"] },
  ];
  it.each(cases)("$name", ({ added, taken }) => expect(drainLane(laneOf(added))).toEqual(taken));

  it("gives a group that returns the last turn", () => {
    const lane = laneOf(["a1", "b1", "c1"]);
    lane.take();
    lane.add(laneItem("a2"));
    expect(drainLane(lane)).toEqual(["b1", "c1", "a2"]);
  });

  it("skips withdrawn items", () => {
    const lane = laneOf(["a1"]);
    const [second, third] = [laneItem("a2"), laneItem("b1")];
    lane.add(second);
    lane.add(third);
    lane.withdraw(second);
    lane.withdraw(third);
    expect(lane.size).toBe(1);
    expect([lane.take()?.name, lane.take()]).toEqual(["a1", undefined]);
  });

  it("skips a group whose items were all withdrawn", () => {
    const lane = new FairLane<ReturnType<typeof laneItem>>();
    const first = laneItem("a1");
    lane.add(first);
    lane.add(laneItem("b1"));
    lane.withdraw(first);
    expect(lane.take()?.name).toBe("b1");
  });

  it("reports the oldest item, regardless of which items were taken", () => {
    const lane = laneOf(["a1", "b1", "b2"]);
    lane.take();
    expect(lane.oldest()?.name).toBe("b1");
    lane.take();
    lane.take();
    expect(lane.oldest()).toBeUndefined();
  });

  it("never serves a group twice in a row while another one waits", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c", "d")), (groups) => {
        const lane = laneOf(groups);
        const taken = drainLane(lane);
        expect(taken.toSorted()).toEqual(groups.toSorted());
        taken.forEach((name, at) => {
          const others = taken.slice(at + 1).filter((other) => other !== name);
          if (name === taken[at + 1]) expect(others).toEqual([]);
        });
      }),
    );
  });
});
