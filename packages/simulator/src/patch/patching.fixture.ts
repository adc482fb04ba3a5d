// For tests of patches and managed fields: two kinds, and helpers that apply and write objects.
import type { ApiObject, JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { makePatching } from "./patching.ts";

const status = { status: { verbs: ["get", "patch", "update"] } } as const;

export const deployments: KindEntry = {
  ...{ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", singular: "deployment", namespaced: true },
  subresources: status,
};

const named = { type: "object", properties: { name: { type: "string" }, size: { type: "integer" } } };

/** A custom resource with every type of list. */
export const wides: KindEntry = {
  ...{ group: "example.com", version: "v1", kind: "Wide", plural: "wides", singular: "wide", namespaced: true },
  subresources: status,
  customResource: {
    uid: "1",
    schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            replicas: { type: "integer" },
            tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
            parts: { type: "array", items: named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
            order: { type: "array", items: { type: "string" } },
            labels: { type: "object", additionalProperties: { type: "string" } },
            selector: { type: "object", "x-kubernetes-map-type": "atomic", properties: { app: { type: "string" } } },
            free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
        status: { type: "object", properties: { phase: { type: "string" } } },
      },
    },
  },
};

export const wide = (spec: JsonObject, more: JsonObject = {}): ApiObject =>
  ({ apiVersion: "example.com/v1", kind: "Wide", metadata: { name: "w" }, spec, ...more }) as ApiObject;

const patching = makePatching();

export interface Applying {
  readonly kind?: KindEntry;
  readonly manager?: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly now?: string;
}

/** Applies a configuration. */
export function applied(live: ApiObject | undefined, patch: unknown, options: Applying = {}): ApiObject {
  const { kind = wides, manager = "me", force = false, subresource, now = "2026-01-01T00:00:00Z" } = options;
  return patching.patch({ type: "apply", patch, kind, live, manager, force, subresource, now }) as ApiObject;
}

/** Writes an object without apply, and updates managedFields. */
export function written(before: ApiObject | undefined, after: ApiObject, options: Applying = {}): ApiObject {
  const { kind = wides, manager = "me", subresource, now = "2026-01-01T00:00:00Z" } = options;
  const managedFields = patching.track({ kind, subresource, before, after, manager, now });
  const { managedFields: _, ...metadata } = after.metadata;
  return { ...after, metadata: { ...metadata, uid: "1", ...(managedFields && { managedFields }) } } as ApiObject;
}

/** Fields by manager: `{ "me": { "f:spec": … } }`. Includes the operation if a manager has several. */
export function owners(object: ApiObject): Readonly<Record<string, unknown>> {
  const entries = (object.metadata.managedFields ?? []) as readonly Record<string, unknown>[];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      `${manager} ${operation}${subresource === undefined ? "" : ` ${subresource}`}`,
      fieldsV1,
    ]),
  );
}
