import { describe, expect, it } from "vitest";
import type { ApiObject, JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { KindRegistry } from "../kinds/registry.ts";
import { concernedKind } from "./webhooks.ts";

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

describe("a webhook", () => {
  it.each([
    { name: "is called for requests that match its rules", webhook: {}, more: {}, version: "v1" },
    {
      name: "is called for all requests with wildcard rules",
      webhook: { rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] },
      more: {},
      version: "v1",
    },
    { name: "is not called for another operation", webhook: {}, more: { operation: "DELETE" }, version: undefined },
    {
      name: "is not called for a subresource outside its rules",
      webhook: {},
      more: { subresource: "status" },
      version: undefined,
    },
    {
      name: "is called for a subresource in its rules",
      webhook: { rules: [{ ...rule, resources: ["things/status"] }] },
      more: { subresource: "status" },
      version: "v1",
    },
    {
      name: "is called for any subresource with a wildcard",
      webhook: { rules: [{ ...rule, resources: ["*/*"] }] },
      more: { subresource: "status" },
      version: "v1",
    },
    {
      name: "is not called for another scope",
      webhook: { rules: [{ ...rule, scope: "Cluster" }] },
      more: {},
      version: undefined,
    },
    {
      name: "is called with its own version for an equivalent version",
      webhook: { matchPolicy: "Equivalent" },
      more: { kind: v2 },
      version: "v1",
    },
    {
      name: "is not called for another version with matchPolicy Exact",
      webhook: { matchPolicy: "Exact" },
      more: { kind: v2 },
      version: undefined,
    },
    {
      name: "is called in namespaces that match its selector",
      webhook: { namespaceSelector: { matchLabels: { team: "a" } } },
      more: {},
      version: "v1",
    },
    {
      name: "is not called in other namespaces",
      webhook: { namespaceSelector: { matchLabels: { team: "b" } } },
      more: {},
      version: undefined,
    },
    {
      name: "is called for objects that match its selector",
      webhook: { objectSelector: { matchLabels: { app: "x" } } },
      more: {},
      version: "v1",
    },
    {
      name: "is not called for other objects",
      webhook: { objectSelector: { matchLabels: { app: "y" } } },
      more: {},
      version: undefined,
    },
  ])("$name", ({ webhook, more, version }) => {
    expect(asked(webhook, more)).toBe(version);
  });

  it("is called for an object that matched its selector before the update", () => {
    const oldObject = { ...object, metadata: { name: "t", labels: { app: "y" } } };
    expect(asked({ objectSelector: { matchLabels: { app: "y" } } }, { oldObject })).toBe("v1");
  });
});
