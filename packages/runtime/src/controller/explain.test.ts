import { describe, expect, it } from "vitest";
import { History, Lines, type StoredRecord } from "./explain.ts";

function record(more: Partial<StoredRecord> = {}): Omit<StoredRecord, "times"> {
  return { atMs: 0, because: ["listed"], waitedMs: 0, tookMs: 1, read: [], wrote: [], notes: [], ended: "done", ...more };
}

describe("History of reconciles", () => {
  it("rounds durations to a tenth of a millisecond", () => {
    const history = new History();
    history.add("a", record({ waitedMs: 0.4756630000001678, tookMs: 13.199211000000105 }));
    expect(history.of("a")).toMatchObject([{ waitedMs: 0.5, tookMs: 13.2 }]);
  });

  it("keeps the last records of a key, newest last", () => {
    const history = new History({ perKey: 2 });
    for (const ended of ["failed: a", "failed: b", "done"]) history.add("home/a", record({ ended }));
    expect(history.of("home/a").map(({ ended }) => ended)).toEqual(["failed: b", "done"]);
    expect(history.of("home/b")).toEqual([]);
  });

  it("keeps a single record with perKey 1", () => {
    const history = new History({ perKey: 1 });
    for (const ended of ["failed: a", "done"]) history.add("home/a", record({ ended }));
    expect(history.of("home/a").map(({ ended }) => ended)).toEqual(["done"]);
  });

  it("counts consecutive reconciles that ended alike in one record, so that earlier writes stay visible", () => {
    const history = new History({ perKey: 2 });
    history.add("a", record({ wrote: ["apply Pod home/a-0 → @18"] }));
    for (let at = 1; at <= 100; at += 1) history.add("a", record({ atMs: at }));
    expect(history.of("a").map(({ at, wrote, times }) => [at, wrote.length, times])).toEqual([
      ["1970-01-01T00:00:00.000000Z", 1, 1],
      ["1970-01-01T00:00:00.100000Z", 0, 100],
    ]);
  });

  it("keeps separate records for reconciles with writes or with different notes", () => {
    const history = new History();
    for (const wrote of [["apply"], ["apply"]]) history.add("a", record({ wrote }));
    for (const notes of [["below the threshold"], ["cooling down"]]) history.add("b", record({ notes }));
    expect([history.of("a").length, history.of("b").length]).toEqual([2, 2]);
  });

  it("drops the records of the least recently reconciled keys", () => {
    const history = new History({ keys: 2 });
    for (const key of ["a", "b", "a", "c"]) history.add(key, record());
    expect(history.keys()).toEqual(["a", "c"]);
  });

  it("truncates long lines, and still recognizes reconciles that ended alike", () => {
    const long = "x".repeat(6_000);
    const history = new History();
    const lines = new Lines();
    lines.add(long);
    const once = record({ ended: `failed: ${long}`, because: [long], notes: lines.list() });
    for (let time = 0; time < 2; time += 1) history.add("a", once);
    const kept = history.of("a");
    expect(kept.map(({ times }) => times)).toEqual([2]);
    const lengths = kept.flatMap(({ ended, because, notes }) => [ended, ...because, ...notes]).map(({ length }) => length);
    expect(lengths).toEqual([500, 500, 500]);
    expect(kept[0]?.ended).toMatch(/^failed: x+…$/);
  });

  it("limits the number of lines, and counts the ones left out", () => {
    const lines = new Lines();
    for (let number = 0; number < 30; number += 1) lines.add(`Pod ${number}`);
    expect(lines.list()).toHaveLength(25);
    expect(lines.list().at(-1)).toBe("… and 6 more");
  });
});
