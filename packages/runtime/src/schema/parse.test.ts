import { describe, expect, it } from "vitest";
import { InvalidObjectError } from "./errors.ts";
import { duration, quantity } from "./fields.ts";
import { parseObject, withDefaults } from "./parse.ts";
import { AppMonitor, Memcached } from "./sample-operators.fixture.ts";
import { Wide } from "./wide.fixture.ts";

const metadata = { name: "a", namespace: "default" };

describe("objects validated by the runtime", () => {
  it("get apiVersion, kind and the defaults that the API server would set", () => {
    expect(withDefaults(Memcached, { metadata, spec: {} })).toEqual({
      apiVersion: "cache.example.com/v1alpha1",
      kind: "Memcached",
      metadata,
      spec: { size: 3, version: "1.6", containerPort: 11211 },
    });
  });

  it("get nested defaults, also if the parent is missing", () => {
    const { spec } = withDefaults(Wide, { metadata, spec: {} });
    expect(spec.kubernetes).toEqual({ cooldown: "5m", nested: { deep: 7 } });
  });

  it("can lack a spec without required fields, as in a cluster", () => {
    expect(parseObject(Memcached, { apiVersion: "cache.example.com/v1alpha1", kind: "Memcached", metadata }).spec.size).toBe(3);
  });

  it("lose unknown fields of the spec, as in a cluster, and nothing of metadata", () => {
    const object = { apiVersion: "cache.example.com/v1alpha1", kind: "Memcached", metadata: { ...metadata, labels: { a: "b" } } };
    const parsed = parseObject(Memcached, { ...object, spec: { surprise: 1 } });
    expect(parsed.spec).not.toHaveProperty("surprise");
    expect(parsed.metadata).toEqual(object.metadata);
  });

  it("are rejected with every error and its path", () => {
    const spec = { memThresholdPercent: 0, memMultiplier: 1, maxMemory: "lots" };
    const attempt = () => withDefaults(AppMonitor, { metadata, spec });
    expect(attempt).toThrow(InvalidObjectError);
    expect(attempt).toThrow(/^AppMonitor a does not match its schema:/);
    for (const path of ["spec.memThresholdPercent: ", "spec.memMultiplier: ", "spec.maxMemory: must be a quantity"])
      expect(attempt).toThrow(path);
  });

  it.each([
    { name: "a rule with a twin in TypeScript", spec: { numbers: { odd: 2 } }, says: "spec.numbers.odd: must be odd" },
    { name: "a choice", spec: { kubernetes: { source: {} } }, says: "exactly one of url, secret must be set" },
    { name: "a set", spec: { collections: { set: ["a", "a"] } }, says: "spec.collections.set: must not contain a value twice" },
    { name: "a keyed list", spec: { collections: { keyed: [{ name: "a" }, { name: "a" }] } }, says: "the same name twice" },
    { name: "the size of a map", spec: { collections: { labels: { a: "", b: "", c: "" } } }, says: "at most 2 entries" },
    {
      name: "the most of a quantity",
      spec: { kubernetes: { memory: "2Ti" } },
      says: "spec.kubernetes.memory: must be at most 1Ti",
    },
    { name: "the least of a quantity, as a number", spec: { kubernetes: { memory: 7 } }, says: "must be at least 1Mi" },
    { name: "the most of a duration", spec: { kubernetes: { cooldown: "1441m" } }, says: "must be at most 24h" },
    { name: "a duration", spec: { kubernetes: { cooldown: "soon" } }, says: "must be a duration, like 90s or 1h30m" },
  ])("are validated by $name", ({ spec, says }) => expect(() => withDefaults(Wide, { metadata, spec })).toThrow(says));

  it("report a malformed quantity once, and not also as too small", () => {
    const attempt = () => withDefaults(Wide, { metadata, spec: { kubernetes: { memory: "lots" } } });
    expect(attempt).toThrow(/does not match its schema:\n {2}spec\.kubernetes\.memory: must be a quantity[^\n]*$/);
  });

  it("reject invalid bounds in the definition", () => {
    expect(() => quantity({ max: "lots" })).toThrow("lots");
    expect(() => duration({ min: "soon" })).toThrow("soon");
  });

  it("are rejected as an object of another kind", () => {
    expect(() => parseObject(Memcached, { apiVersion: "v1", kind: "Pod", metadata, spec: {} })).toThrow("kind: ");
  });
});
