// Paths that nobody can own: the identity of an object, which is the server's, and what a request to this subresource
// cannot write (the status of an object through the object, its spec through the status).
import type { KindEntry } from "../kinds/kind-entry.ts";
import { fieldElement } from "./path-element.ts";
import { type PathSet, setOf, without } from "./path-set.ts";

const paths = (...all: readonly string[]) => setOf(...all.map((path) => path.split(".").map(fieldElement)));

/** Of every object. Longer paths below these can be owned: metadata.labels. */
export const identity: PathSet = paths(
  "apiVersion",
  "kind",
  "metadata",
  "metadata.name",
  "metadata.namespace",
  "metadata.creationTimestamp",
  "metadata.selfLink",
  "metadata.uid",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.resourceVersion",
);

const status = paths("status");
const spec = paths("spec");

/** What writing the status of a kind cannot change beside its spec. */
const besideSpec: Readonly<Record<string, PathSet>> = {
  "pods.": paths("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
  "deployments.apps": paths("spec", "metadata.labels"),
};

/** Keeps of a set what a request to this subresource can write. The resize of a pod may own anything, though it changes little. */
export function onlyWritable(set: PathSet, kind: KindEntry, subresource: string | undefined): PathSet {
  if (subresource === "status") {
    const custom = kind.customResource && paths("metadata", "spec");
    return without(set, custom ?? besideSpec[`${kind.plural}.${kind.group}`] ?? spec);
  }
  return subresource !== undefined || kind.subresources?.status === undefined ? set : without(set, status);
}
