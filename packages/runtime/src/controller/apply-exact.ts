// The mode "exact": removes what others added within the parts of a child that are declared. A key that somebody adds to the
// `data` of a ConfigMap survives a server-side apply, and a port that somebody adds to a Service with the name of ours makes
// every later apply fail.
//
// The server fills in defaults and allocates values, so what we did not declare is not always foreign. `metadata.managedFields`
// tells: defaults have no manager. Foreign is what a manager other than our apply owns, except
//
//     metadata, status            labels, annotations and finalizers of others always stay
//     top-level fields            that we do not declare: `binaryData` beside our `data`
//     subresources                `spec.replicas`, set through /scale by an autoscaler or by kubectl scale
//     the control plane           `spec.volumeName` of a claim
//     our own removals            write lists whole, and so own the defaults in them
//
// Caches hold no managedFields. So an object is read live when it differs from what is declared, and the result is remembered
// (settled.ts): an unchanged child costs nothing.

import type { JsonPatchOperation } from "../client/client.ts";
import { equals, isRecord } from "../objects/diff.ts";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import type { CompleteChild } from "./apply-children.ts";
import type { ReconcileScope } from "./reconcile.ts";

type Found = Stored<KubernetesObject>;
type Fields = Readonly<Record<string, unknown>>;

/** Returns the object without foreign fields. @param limitRate throws if the child is written too often */
export async function removeForeignFields(
  scope: ReconcileScope,
  child: CompleteChild,
  found: Found,
  limitRate: (actual: Found) => void,
): Promise<Found> {
  const { kind, object } = child;
  const declared = declaredParts(object);
  const results = scope.deps.appliedChildren.exact;
  const { uid } = found.metadata;
  if (isExact(declared, found) || results.has(uid, declared, partsOf(declared, found))) return found;
  const live = await scope.client.find(kind, object.metadata);
  if (live?.metadata.uid !== uid) return found; // replaced: the cache is about to say so
  const removals = foreignFields(live, declared, scope.fieldManager);
  if (removals.length === 0) return settled(live);
  limitRate(found);
  const { resourceVersion } = live.metadata;
  const only: JsonPatchOperation[] = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, // a conflict if it has changed since
  ];
  const options = { fieldManager: scope.fieldManager };
  scope.note(`${kind.kind} ${object.metadata.name}: removing foreign fields: ${removals.map(({ path }) => path).join(", ")}`);
  return settled(await scope.client.patch(kind, object.metadata, { type: "json", body: [...only, ...removals] }, options));

  function settled(answer: Found): Found {
    const stored = scope.cacheOf(kind).project(answer) as Found;
    results.remember(uid, declared, partsOf(declared, stored));
    return stored;
  }
}

/** What we declare, without the metadata. The server stores `stringData` of a Secret as `data`. */
function declaredParts(object: KubernetesObject): Fields {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, stringData, ...parts } = object as Fields;
  if (!isRecord(stringData)) return parts;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  return { ...parts, data: { ...(isRecord(parts.data) && parts.data), ...Object.fromEntries(encoded) } };
}

const partsOf = (declared: Fields, found: object): Fields =>
  Object.fromEntries(Object.keys(declared).map((key) => [key, (found as Fields)[key]]));

const isExact = (declared: Fields, found: object): boolean => equals(declared, partsOf(declared, found));

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Fields;
}

const controlPlane = new Set([
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-apiserver",
  "cloud-controller-manager",
]);

/** The operations that remove what is foreign. */
export function foreignFields(live: Found, declared: Fields, manager: string): readonly JsonPatchOperation[] {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFields[];
  const operations = new Map<string, JsonPatchOperation>();
  for (const entry of entries.filter((each) => isForeign(each, manager)))
    for (const key of Object.keys(declared)) {
      const fields = entry.fieldsV1?.[`f:${key}`];
      const part = { fields, live: partsOf(declared, live)[key], declared: declared[key], path: `/${key}` };
      for (const operation of removals(part, entry.manager === manager)) operations.set(operation.path, operation);
    }
  return [...operations.values()];
}

function isForeign({ manager = "", operation, subresource }: ManagedFields, ours: string): boolean {
  return !subresource && !controlPlane.has(manager) && !(manager === ours && operation === "Apply");
}

/** A value, what is declared of it, and the fields of it that another manager owns. */
interface Part {
  readonly fields: unknown;
  readonly live: unknown;
  readonly declared: unknown;
  readonly path: string;
}

/** What to remove from a value. @param elementsOnly whether only elements of lists count */
function* removals({ fields, live, declared, path }: Part, elementsOnly: boolean): Generator<JsonPatchOperation> {
  if (!isRecord(fields)) return;
  if (Array.isArray(live) && Array.isArray(declared)) {
    const foreign = Object.keys(fields).some((key) => key !== "." && isForeignElement(key, declared));
    if (foreign) return yield { op: "replace", path, value: declared.map((item) => overlaid(item, live)) };
    for (const [key, inner] of Object.entries(fields)) {
      const at = live.findIndex((item) => isElement(key, item));
      const ours = declared.find((item) => isElement(key, item));
      if (at !== -1) yield* removals({ fields: inner, live: live[at], declared: ours, path: `${path}/${at}` }, elementsOnly);
    }
  } else if (isRecord(live) && isRecord(declared)) {
    for (const [key, inner] of Object.entries(fields)) {
      const name = key.slice(2);
      if (!key.startsWith("f:") || !(name in live)) continue;
      const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const next = { fields: inner, live: live[name], declared: declared[name], path: at };
      if (declared[name] !== undefined) yield* removals(next, elementsOnly);
      else if (!elementsOnly) yield { op: "remove", path: at };
    }
  }
}

const isForeignElement = (key: string, declared: readonly unknown[]) => !declared.some((item) => isElement(key, item));

/** Whether a list element is the one that a key of managedFields names: `k:{"port":80,"protocol":"TCP"}` or `v:"value"`. */
function isElement(key: string, item: unknown): boolean {
  const value: unknown = JSON.parse(key.slice(2) || "null");
  if (key.startsWith("v:")) return equals(value, item);
  if (!key.startsWith("k:") || !isRecord(value) || !isRecord(item)) return false;
  return Object.entries(value).every(([name, part]) => item[name] === undefined || equals(item[name], part)); // or a default
}

/** A declared list element with the defaults and allocated values of its live counterpart, found by name or else by all it declares. */
function overlaid(item: unknown, live: readonly unknown[]): unknown {
  if (!isRecord(item)) return item;
  const scalars = Object.entries(item).filter(([, value]) => !isRecord(value) && !Array.isArray(value));
  const found = live.filter(isRecord).find((other) => scalars.every(([name, value]) => equals(other[name], value)));
  return { ...found, ...item };
}
