// Paths that nobody can own: the identity of an object, which is the server's, and what a request to this subresource
// cannot write (the status of an object through the object, its spec through the status).
import type { KindEntry } from "../kinds/kind-entry.ts";
import { fieldElement } from "./path-element.ts";
import { emptySet, type PathSet, setOf, without } from "./path-set.ts";

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

/** Keeps of a set what a request to this subresource can write. */
export function onlyWritable(set: PathSet, kind: KindEntry, subresource: string | undefined): PathSet {
  if (subresource === "resize") return onlyResize(set);
  if (subresource === "status") {
    const custom = kind.customResource && paths("metadata", "spec");
    return without(set, custom ?? besideSpec[`${kind.plural}.${kind.group}`] ?? spec);
  }
  return kind.subresources?.status === undefined ? set : without(set, status);
}

/** Resources and resize policies of containers, nothing else. */
function onlyResize(set: PathSet): PathSet {
  const result = emptySet();
  const ofPod = set.below.get("f:spec");
  for (const list of ["f:containers", "f:initContainers"]) {
    for (const [element, container] of ofPod?.below.get(list)?.below ?? []) {
      for (const field of ["f:resources", "f:resizePolicy"]) {
        const node = container.below.get(field);
        if (node !== undefined) put(result, ["f:spec", list, element, field], node);
      }
    }
  }
  return result;
}

function put(set: PathSet, path: readonly string[], node: PathSet): void {
  let at = set;
  for (const element of path.slice(0, -1)) {
    const next = at.below.get(element) ?? emptySet();
    at.below.set(element, next);
    at = next;
  }
  at.below.set(path.at(-1) ?? "", node);
}
