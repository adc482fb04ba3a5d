// Where things are on the API server. Every segment is checked and escaped: an empty name would turn the deletion of one
// object into the deletion of all of them.
import type { Kind, ObjectRef } from "../objects/object.ts";

/** "/api/v1" or "/apis/apps/v1". */
export function groupVersionPath(kind: Pick<Kind, "group" | "version">): string {
  const version = segment(kind.version, "version");
  return kind.group === "" ? `/api/${version}` : `/apis/${segment(kind.group, "group")}/${version}`;
}

/** All objects of a kind: those of one namespace, or, without one, of all namespaces. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const plural = segment(kind.plural, "plural");
  if (namespace === undefined) return `${groupVersionPath(kind)}/${plural}`;
  if (!kind.namespaced) {
    throw new TypeError(`${kind.kind} is cluster-scoped: expected no namespace, found ${JSON.stringify(namespace)}`);
  }
  return `${groupVersionPath(kind)}/namespaces/${segment(namespace, "namespace")}/${plural}`;
}

/** One object, or a subresource of it. */
export function objectPath(kind: Kind, ref: ObjectRef, subresource?: string): string {
  return `${homePath(kind, ref.namespace)}/${segment(ref.name, "name")}${subresourcePath(subresource)}`;
}

/** Where objects of a kind are created: a namespaced one needs a namespace here. */
export function homePath(kind: Kind, namespace: string | undefined): string {
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(`${kind.kind} is namespaced: expected a namespace, found none`);
  }
  // People write `namespace: ""` or copy the namespace of an owner; for a cluster-scoped object it means nothing.
  return collectionPath(kind, kind.namespaced ? namespace : undefined);
}

function subresourcePath(subresource: string | undefined): string {
  return subresource === undefined ? "" : `/${segment(subresource, "subresource")}`;
}

function segment(text: string, what: string): string {
  if (typeof text !== "string" || text === "" || text === "." || text === "..") {
    throw new TypeError(`expected a ${what}, found ${JSON.stringify(text)}`);
  }
  return encodeURIComponent(text);
}
