import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Client } from "../client/client.ts";
import { setCondition } from "../objects/condition.ts";
import type { Kind, ObjectOf, Stored } from "../objects/object.ts";
import {
  type ConditionOf,
  defineResource,
  type InputOf,
  pluralOf,
  type SpecOf,
  type StatusInputOf,
  type StatusOf,
} from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { Gordon, Memcached } from "./sample-operators.fixture.ts";

const names = { group: "example.com", version: "v1", kind: "Thing", spec: z.object({}) };

describe("a resource", () => {
  it("is a Kind with the plural of URLs", () => {
    const { group, version, kind, plural, namespaced } = Memcached;
    expect({ group, version, kind, plural, namespaced }).toEqual({
      group: "cache.example.com",
      version: "v1alpha1",
      kind: "Memcached",
      plural: "memcacheds",
      namespaced: true,
    });
  });

  it("takes an explicit plural", () => {
    expect(defineResource({ ...names, plural: "thingies" }).plural).toBe("thingies");
  });

  it("is cluster-scoped with scope: Cluster", () => {
    expect(defineResource({ ...names, scope: "Cluster" }).namespaced).toBe(false);
  });

  it.each([
    ["Gordon", "gordons"],
    ["AppMemory", "appmemories"],
    ["EtcdCluster", "etcdclusters"],
    ["Proxy", "proxies"],
    ["Gateway", "gateways"],
    ["StorageClass", "storageclasses"],
  ])("%s has the plural %s", (kind, plural) => expect(pluralOf(kind)).toBe(plural));

  it.each([
    { name: "a kind in lower case", wrong: { kind: "thing" }, says: 'expected kind to be a CamelCase word, found "thing"' },
    { name: "a group that is not a domain", wrong: { group: "example" }, says: "a domain name" },
    { name: "a version with a dot", wrong: { version: "v1.0" }, says: "a version such as v1" },
    { name: "a short name in capitals", wrong: { shortNames: ["TH"] }, says: 'lower-case words, found "TH"' },
    { name: "a reason with a blank", wrong: { conditions: { Ready: ["Not yet"] } }, says: "a CamelCase reason" },
    { name: "one reason for two statuses", wrong: { conditions: { Ready: { True: ["A"], False: ["A"] } } }, says: "Ready/A" },
  ])("is rejected with $name", ({ wrong, says }) => {
    const attempt = () => defineResource({ ...names, ...(wrong as object) });
    expect(attempt).toThrow(ResourceDefinitionError);
    expect(attempt).toThrow(says);
  });
});

describe("the types of a resource", () => {
  it("require fields with defaults on read, and make them optional on write", () => {
    expectTypeOf<SpecOf<typeof Memcached>["size"]>().toEqualTypeOf<number>();
    expectTypeOf<InputOf<typeof Memcached>["spec"]["size"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<StatusInputOf<typeof Gordon>["pods"]>().toEqualTypeOf<readonly string[] | undefined>();
  });

  it("are readonly at every level, because objects are shared", () => {
    expectTypeOf<StatusOf<typeof Gordon>["pods"]>().toEqualTypeOf<readonly string[]>();
    const change = (gordon: ObjectOf<typeof Gordon>) => {
      // @ts-expect-error objects come from caches
      gordon.spec.gordon.replicas = 3;
    };
    expect(change).toBeTypeOf("function");
  });

  it("have no undefined field", () => {
    const read = (gordon: ObjectOf<typeof Gordon>) => {
      // @ts-expect-error no such field
      return gordon.spec.gordon.replica;
    };
    expect(read).toBeTypeOf("function");
  });

  it("make a resource usable as a Kind", () => {
    expectTypeOf(Gordon).toExtend<Kind<ObjectOf<typeof Gordon>>>();
    const get = (client: Client) => client.get(Gordon, { name: "a" });
    expectTypeOf<Awaited<ReturnType<typeof get>>>().toEqualTypeOf<Stored<ObjectOf<typeof Gordon>>>();
  });

  it("add observedGeneration and conditions to every status", () => {
    expectTypeOf<StatusOf<typeof Gordon>["observedGeneration"]>().toEqualTypeOf<number | undefined>();
    type Stored = NonNullable<StatusOf<typeof Gordon>["conditions"]>[number];
    expectTypeOf<Stored["lastTransitionTime"]>().toEqualTypeOf<string>();
  });
});

describe("conditions", () => {
  it("compile only with a defined pair of type and reason, and the status of the reason", () => {
    const right: ConditionOf<typeof Memcached> = { type: "Available", status: "False", reason: "ImageNotPulled", message: "" };
    // @ts-expect-error the reason belongs to Progressing
    const foreign: ConditionOf<typeof Memcached> = { type: "Available", status: "True", reason: "RollingOut", message: "" };
    // @ts-expect-error an image that cannot be pulled is not available
    const dishonest: ConditionOf<typeof Memcached> = { type: "Available", status: "True", reason: "ImageNotPulled", message: "" };
    // @ts-expect-error no such type
    const unknown: ConditionOf<typeof Memcached> = { type: "Happy", status: "True", reason: "Settled", message: "" };
    expect([right, foreign, dishonest, unknown]).toHaveLength(4);
  });

  it("accept any status if the reasons are a plain list", () => {
    const Thing = defineResource({ ...names, conditions: { Paused: ["AskedTo", "Active"] } });
    expectTypeOf<ConditionOf<typeof Thing>["status"]>().toEqualTypeOf<"True" | "False" | "Unknown">();
    expectTypeOf<ConditionOf<typeof Thing>["reason"]>().toEqualTypeOf<"AskedTo" | "Active">();
  });

  it("compile in columns only if they are defined", () => {
    const conditions = { Ready: ["Yes"] } as const;
    // @ts-expect-error there is no condition Reddy
    const Thing = defineResource({ ...names, conditions, columns: [{ name: "Ready", condition: "Reddy" }] });
    expect(Thing.kind).toBe("Thing");
  });

  it("can be passed to setCondition", () => {
    const stated: ConditionOf<typeof Gordon> = { type: "Ready", status: "False", reason: "PodsMissing", message: "2 of 3" };
    const before: StatusOf<typeof Gordon>["conditions"] = [];
    expect(setCondition(before, stated, 0)).toEqual([{ ...stated, lastTransitionTime: "1970-01-01T00:00:00Z" }]);
  });
});
