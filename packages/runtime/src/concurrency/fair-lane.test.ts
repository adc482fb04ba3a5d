import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairLane } from "./fair-lane.ts";

const item = (name: string) => ({ name, group: name.slice(0, 1), gone: false });
const laneOf = (names: readonly string[]) => {
  const lane = new FairLane<ReturnType<typeof item>>();
  for (const name of names) lane.add(item(name));
  return lane;
};
const drain = (lane: ReturnType<typeof laneOf>) => Array.from({ length: lane.size }, () => lane.take()?.name);

describe("fair lane", () => {
  const cases = [
    { name: "is first come, first served within a group", added: ["a1", "a2", "a3"], taken: ["a1", "a2", "a3"] },
    {
      name: "lets groups take turns, so one item never waits for a crowd",
      added: ["a1", "a2", "a3", "b1"],
      taken: ["a1", "b1", "a2", "a3"],
    },
    { name: "takes turns among many", added: ["a1", "a2", "b1", "b2", "c1"], taken: ["a1", "b1", "c1", "a2", "b2"] },
  ];
  it.each(cases)("$name", ({ added, taken }) => expect(drain(laneOf(added))).toEqual(taken));

  it("gives a group that comes back the last turn, not the first", () => {
    const lane = laneOf(["a1", "b1", "c1"]);
    lane.take();
    lane.add(item("a2"));
    expect(drain(lane)).toEqual(["b1", "c1", "a2"]);
  });

  it("skips what was withdrawn", () => {
    const lane = laneOf(["a1"]);
    const [second, third] = [item("a2"), item("b1")];
    lane.add(second);
    lane.add(third);
    lane.withdraw(second);
    lane.withdraw(third);
    expect(lane.size).toBe(1);
    expect([lane.take()?.name, lane.take()]).toEqual(["a1", undefined]);
  });

  it("finds the next one behind a group of which nobody is left", () => {
    const lane = new FairLane<ReturnType<typeof item>>();
    const first = item("a1");
    lane.add(first);
    lane.add(item("b1"));
    lane.withdraw(first);
    expect(lane.take()?.name).toBe("b1");
  });

  it("knows who has waited longest, whoever was taken meanwhile", () => {
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
        const taken = drain(lane);
        expect(taken.toSorted()).toEqual(groups.toSorted());
        taken.forEach((name, at) => {
          const others = taken.slice(at + 1).filter((other) => other !== name);
          if (name === taken[at + 1]) expect(others).toEqual([]);
        });
      }),
    );
  });
});
