import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeValues } from "./merge-values.ts";

const keyed = { keys: ["name"], items: {} };
const list = (names: string) => [...names].map((name) => ({ name }));
const names = (value: unknown) => (value as { name: string }[]).map(({ name }) => name).join("");

it.each([
  { live: "abc", config: "abc", gives: "abc", why: "no change" },
  { live: "abc", config: "cd", gives: "abcd", why: "a new element follows its predecessor" },
  { live: "abc", config: "cba", gives: "cba", why: "the configuration orders shared elements" },
  { live: "abc", config: "dba", gives: "dbca", why: "a live-only element stays behind its predecessor" },
  { live: "abcde", config: "eca", gives: "bdeca", why: "a live-only element stays before its successor" },
  { live: "abcd", config: "xbya", gives: "xbcdya", why: "a live-only element follows its predecessor anywhere" },
  { live: "", config: "ab", gives: "ab", why: "all elements are new" },
])("merging $config into $live gives $gives: $why", ({ live, config, gives }) => {
  expect(names(mergeValues(list(live), list(config), keyed))).toBe(gives);
});

it("keeps every element once, in the order of the configuration", () => {
  const unique = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
  fc.assert(
    fc.property(unique, unique, (live, config) => {
      const merged = [...names(mergeValues(list(live.join("")), list(config.join("")), keyed))];
      expect([...merged].sort()).toEqual([...new Set([...live, ...config])].sort());
      expect(merged.filter((name) => config.includes(name))).toEqual(config);
    }),
  );
});

it("keeps existing values where the configuration has null", () => {
  expect(mergeValues({ a: 1 }, null, {})).toEqual({ a: 1 });
  expect(mergeValues(undefined, null, {})).toBeNull();
});
