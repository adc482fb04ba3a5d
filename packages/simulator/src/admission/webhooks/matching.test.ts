import { describe, expect, it } from "vitest";
import type { ApiObject, JsonObject } from "../../json.ts";
import type { KindEntry } from "../../kinds/kind-entry.ts";
import { KindRegistry } from "../../kinds/registry.ts";
import { concernedKind } from "./matching.ts";

const kind = (version: string): KindEntry => ({
  ...{ group: "example.com", version, kind: "Thing", plural: "things", singular: "thing", namespaced: true },
});
const [v1, v2] = [kind("v1"), kind("v2")];
const rule = { apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] };
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "here", labels: { team: "a" } } } as ApiObject;
const core = { kinds: new KindRegistry([v1, v2]), storage: { get: () => namespace } } as never;
const object = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t", labels: { app: "x" } } } as ApiObject;

const asked = (webhook: JsonObject, more: object = {}) => {
  const request = {
    operation: "CREATE",
    kind: v1,
    ref: { namespace: "here", name: "t" },
    subresource: undefined,
    oldObject: undefined,
    ...more,
  };
  return concernedKind({ rules: [rule], ...webhook }, { object, request: request as never }, core)?.version;
};

describe("a webhook is asked", () => {
  it.each([
    { name: "about what its rules say", webhook: {}, more: {}, version: "v1" },
    {
      name: "about everything, with stars",
      webhook: { rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] },
      more: {},
      version: "v1",
    },
    { name: "not about another operation", webhook: {}, more: { operation: "DELETE" }, version: undefined },
    { name: "not about a subresource it did not name", webhook: {}, more: { subresource: "status" }, version: undefined },
    {
      name: "about a subresource by name",
      webhook: { rules: [{ ...rule, resources: ["things/status"] }] },
      more: { subresource: "status" },
      version: "v1",
    },
    {
      name: "about any subresource",
      webhook: { rules: [{ ...rule, resources: ["*/*"] }] },
      more: { subresource: "status" },
      version: "v1",
    },
    { name: "not in another scope", webhook: { rules: [{ ...rule, scope: "Cluster" }] }, more: {}, version: undefined },
    {
      name: "in its own version about another one, if that is equivalent",
      webhook: { matchPolicy: "Equivalent" },
      more: { kind: v2 },
      version: "v1",
    },
    {
      name: "not about another version, if it must be exact",
      webhook: { matchPolicy: "Exact" },
      more: { kind: v2 },
      version: undefined,
    },
    {
      name: "where the namespace is selected",
      webhook: { namespaceSelector: { matchLabels: { team: "a" } } },
      more: {},
      version: "v1",
    },
    { name: "not where it is not", webhook: { namespaceSelector: { matchLabels: { team: "b" } } }, more: {}, version: undefined },
    {
      name: "about objects that are selected",
      webhook: { objectSelector: { matchLabels: { app: "x" } } },
      more: {},
      version: "v1",
    },
    { name: "not about others", webhook: { objectSelector: { matchLabels: { app: "y" } } }, more: {}, version: undefined },
  ])("$name", ({ webhook, more, version }) => {
    expect(asked(webhook, more)).toBe(version);
  });

  it("about an object that was selected before the change", () => {
    const oldObject = { ...object, metadata: { name: "t", labels: { app: "y" } } };
    expect(asked({ objectSelector: { matchLabels: { app: "y" } } }, { oldObject })).toBe("v1");
  });
});
