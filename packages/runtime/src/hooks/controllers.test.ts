// What the hooks of the two controllers receive and cause, on the simulator: names of objects, selectors, scopes, and times.
import { simulate } from "@memhog/simulator/simulate";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Controller } from "../controller/controller.ts";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import type { KubernetesObject } from "../objects/object.ts";
import { minutes, seconds } from "../objects/time.ts";
import { defineResource } from "../schema/define-resource.ts";
import { anObject } from "../testing/builders.ts";
import { type CompositeOptions, compositeController } from "./composite.ts";
import { decoratorController } from "./decorator.ts";
import type { CompositeRequest, HookObject, RelatedRule } from "./hook.ts";

const names = { group: "hooks-test.example.com", version: "v1" };
const spec = z.object({ value: z.string().max(20) });
const status = z.looseObject({});
const Album = defineResource({ ...names, kind: "Album", spec, status });
const Library = defineResource({ ...names, kind: "Library", scope: "Cluster", spec, status });
const Page = defineResource({ ...names, kind: "Page", spec, status });

async function world(controllers: readonly Controller[], objects: readonly KubernetesObject[]) {
  const running = await simulate({ controllers, objects });
  const { client, clock } = running;
  const turn = async (turns = 10) => {
    for (let at = 0; at < turns; at += 1) await clock.advance(100);
  };
  await turn();
  const dataOf = async (name: string, namespace = "default") => (await client.find(ConfigMap, { namespace, name }))?.data;
  return { ...running, turn, dataOf, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

const album = (name = "a") => anObject(Album, { metadata: { namespace: "default", name }, spec: { value: "1" } });
const configMap = (namespace: string, name: string, labels = {}) =>
  anObject(ConfigMap, { metadata: { namespace, name, labels }, data: {} });
const child = (name: string, data: object, namespace?: string) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(namespace && { namespace }) }, data },
});
const keysOf = (map: HookObject | undefined) => Object.keys(map ?? {}).sort().join(" "); // biome-ignore format: one expression

/** A controller whose child `NAME-list` has the names of what its hook received. */
function lister(version: "v1" | "v2", rule: Partial<RelatedRule>, over: Partial<CompositeOptions> = {}): Controller {
  const sync = ({ parent, children, related }: CompositeRequest) => {
    const data = { children: keysOf(children["ConfigMap.v1"]), related: keysOf(related["ConfigMap.v1"]) };
    return { children: [child(`${parent.metadata.name}-list`, data, parent.metadata.namespace ?? "default")] };
  };
  const customize = () => ({ relatedResources: [{ apiVersion: "v1", resource: "configmaps", ...rule }] });
  return compositeController({
    ...{ name: "lister", parent: { kind: Album }, generateSelector: true, related: [ConfigMap, Namespace] },
    children: [{ kind: ConfigMap, updateStrategy: { method: "InPlace" } }],
    hooks: { version, sync, customize },
    ...over,
  });
}

describe("how a hook finds objects by name", () => {
  const labels = { pick: "yes" };
  const objects = [configMap("default", "near", labels), configMap("far", "away", labels), configMap("far", "other")];
  const rule = { labelSelector: { matchLabels: labels } };
  const inLibrary = { parent: { kind: Library } };
  const library = anObject(Library, { metadata: { name: "a" }, spec: { value: "1" } });
  const cases = [
    { name: "v1: by name, in the namespace of the parent", hook: lister("v1", rule), parent: album(), children: "a-list", related: "near" }, // biome-ignore format: a table
    { name: "v2: by namespace and name, in every namespace", hook: lister("v2", rule), parent: album(), children: "default/a-list", related: "default/near far/away" }, // biome-ignore format: a table
    { name: "v2: in the namespace of a rule", hook: lister("v2", { ...rule, namespace: "far" }), parent: album(), children: "default/a-list", related: "far/away" }, // biome-ignore format: a table
    { name: "v1, parent without a namespace: by namespace and name", hook: lister("v1", rule, inLibrary), parent: library, children: "default/a-list", related: "default/near far/away" }, // biome-ignore format: a table
  ];
  it.each(cases)("$name", async ({ hook, parent, children, related }) => {
    await using on = await world([hook], [parent, ...objects]);
    expect(await on.dataOf("a-list")).toEqual({ children, related });
    expect(on.errors).toEqual([]);
  });

  it("namespaceSelector: a namespace that gets the label adds its objects, and one that loses it removes them", async () => {
    const hook = lister("v2", { namespaceSelector: { matchLabels: { team: "a" } }, labelSelector: { matchLabels: labels } });
    await using on = await world([hook], [album(), ...objects]);
    expect((await on.dataOf("a-list"))?.related).toBe("");
    const label = async (name: string, team: string | null) => {
      await on.client.patch(Namespace, { name }, { type: "merge", body: { metadata: { labels: { team } } } });
      await on.turn();
    };
    await label("far", "a");
    expect((await on.dataOf("a-list"))?.related).toBe("far/away");
    await label("default", "a");
    expect((await on.dataOf("a-list"))?.related).toBe("default/near far/away");
    await label("far", null);
    expect((await on.dataOf("a-list"))?.related).toBe("default/near");
  });
});

describe("a parent without a namespace", () => {
  it("has children in several namespaces, which are repaired, and deleted when the hook no longer wants them", async () => {
    const libraries = compositeController({
      ...{ name: "libraries", parent: { kind: Library }, generateSelector: true },
      children: [{ kind: ConfigMap, updateStrategy: { method: "InPlace" } }],
      hooks: {
        sync: ({ parent }) => ({ children: parent.spec.value.split(",").map((home: string) => child("copy", {}, home)) }),
      },
    });
    const library = anObject(Library, { metadata: { name: "main" }, spec: { value: "one,two" } });
    await using on = await world([libraries], [library, configMap("one", "unrelated"), configMap("two", "unrelated")]);
    const copies = async () => {
      const { items } = await on.client.list(ConfigMap, {});
      return items.filter(({ metadata }) => metadata.name === "copy").map(({ metadata }) => metadata.namespace).sort(); // biome-ignore format: one expression
    };
    expect(await copies()).toEqual(["one", "two"]);
    await on.client.delete(ConfigMap, { namespace: "two", name: "copy" });
    await on.turn();
    expect(await copies()).toEqual(["one", "two"]);
    await on.client.patch(Library, { name: "main" }, { type: "merge", body: { spec: { value: "two" } } });
    await on.turn();
    expect(await copies()).toEqual(["two"]);
    expect(on.errors).toEqual([]);
  });
});

describe("generateSelector", () => {
  it("labels children with the UID of the parent, and adopts nothing", async () => {
    await using on = await world([lister("v1", {})], [album("a"), album("b"), configMap("default", "orphan")]);
    const { metadata } = await on.client.get(Album, { namespace: "default", name: "a" });
    const list = await on.client.get(ConfigMap, { namespace: "default", name: "a-list" });
    expect(list.metadata.labels).toEqual({ "controller-uid": metadata.uid });
    expect((await on.dataOf("b-list"))?.children).toBe("b-list");
    const labels = { "controller-uid": metadata.uid };
    await on.client.patch(ConfigMap, { namespace: "default", name: "orphan" }, { type: "merge", body: { metadata: { labels } } });
    await on.turn();
    const orphan = await on.client.get(ConfigMap, { namespace: "default", name: "orphan" });
    expect(orphan.metadata.ownerReferences ?? []).toEqual([]);
  });
});

describe("resyncAfterSeconds", () => {
  it("calls the hooks of both controllers again after that time, though nothing changes", async () => {
    let composite = 0;
    let decorator = 0;
    const after = { resyncAfterSeconds: 30 };
    const counted = compositeController({
      ...{ name: "counted", parent: { kind: Album }, generateSelector: true, children: [{ kind: ConfigMap }] },
      hooks: { sync: () => (++composite < 3 ? after : {}) },
    });
    const decorated = decoratorController({
      ...{ name: "decorated", resources: [{ kind: Page }] },
      hooks: { sync: () => (++decorator < 3 ? after : { resyncAfterSeconds: 0 }) },
    });
    const page = anObject(Page, { metadata: { namespace: "default", name: "p" }, spec: { value: "1" } });
    await using on = await world([counted, ...decorated], [album(), page]);
    const before = [composite, decorator];
    await on.clock.advance(seconds(25));
    expect([composite, decorator]).toEqual(before);
    await on.clock.advance(minutes(10));
    expect([composite, decorator]).toEqual([3, 3]);
  });
});

describe("RollingInPlace", () => {
  it("updates one child at a time, and the next one when the controller of the first has observed it", async () => {
    const pages = compositeController({
      ...{ name: "pages", parent: { kind: Album }, generateSelector: true },
      children: [{ kind: Page, updateStrategy: { method: "RollingInPlace" } }],
      hooks: {
        sync: ({ parent }) => ({
          children: ["a-0", "a-1", "a-2"].map((name) => ({
            ...{ apiVersion: "hooks-test.example.com/v1", kind: "Page", metadata: { name }, spec: { value: parent.spec.value } },
          })),
        }),
      },
    });
    await using on = await world([pages], [album()]);
    const list = async () => (await on.client.list(Page, { namespace: "default" })).items;
    const values = async () => (await list()).map((page) => page.spec.value).join(" ");
    const observe = async () => {
      for (const { metadata } of await list()) {
        const body = { status: { observedGeneration: metadata.generation ?? 0 } };
        await on.client.patch(Page, metadata, { type: "merge", body }, { subresource: "status" });
      }
      await on.turn();
    };
    await observe();
    const uids = (await list()).map(({ metadata }) => metadata.uid);
    await on.client.patch(Album, { namespace: "default", name: "a" }, { type: "merge", body: { spec: { value: "2" } } });
    await on.turn();
    const seen = [await values()];
    for (let step = 0; step < 3; step += 1) {
      await observe();
      seen.push(await values());
    }
    expect(seen).toEqual(["2 1 1", "2 2 1", "2 2 2", "2 2 2"]);
    expect((await list()).map(({ metadata }) => metadata.uid)).toEqual(uids);
    const { status: now } = await on.client.get(Album, { namespace: "default", name: "a" });
    expect(now).toMatchObject({ conditions: [{ type: "Updated", status: "True", reason: "OnLatestRevision" }] });
  });
});
