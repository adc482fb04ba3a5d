import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeValues } from "./merge-values.ts";

const keyed = { keys: ["name"], items: {} };
const list = (names: string) => [...names].map((name) => ({ name }));
const names = (value: unknown) => (value as { name: string }[]).map(({ name }) => name).join("");

it.each([
  { live: "abc", config: "abc", gives: "abc", why: "nothing to do" },
  { live: "abc", config: "cd", gives: "abcd", why: "what is new comes after what it follows" },
  { live: "abc", config: "cba", gives: "cba", why: "the configuration decides the order of what both have" },
  { live: "abc", config: "dba", gives: "dbca", why: "and what only the live one has stays behind what it followed" },
  { live: "abcde", config: "eca", gives: "bdeca", why: "or before what has moved away from it" },
  { live: "abcd", config: "xbya", gives: "xbcdya", why: "wherever that is" },
  { live: "", config: "ab", gives: "ab", why: "everything is new" },
])("$live with $config is $gives: $why", ({ live, config, gives }) => {
  expect(names(mergeValues(list(live), list(config), keyed))).toBe(gives);
});

it("loses nothing, makes nothing twice, and keeps the order of the configuration", () => {
  const unique = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
  fc.assert(
    fc.property(unique, unique, (live, config) => {
      const merged = [...names(mergeValues(list(live.join("")), list(config.join("")), keyed))];
      expect([...merged].sort()).toEqual([...new Set([...live, ...config])].sort());
      expect(merged.filter((name) => config.includes(name))).toEqual(config);
    }),
  );
});

it("does not let null take away what is there", () => {
  expect(mergeValues({ a: 1 }, null, {})).toEqual({ a: 1 });
  expect(mergeValues(undefined, null, {})).toBeNull();
});
