// Namespaces and nodes: the ground that the rest stands on.
import { type ApiObject, type Draft, draftOf, listAt, objectAt, valueAt } from "../../json.ts";
import { ageColumn, at, nameColumn, text, wide } from "../columns.ts";
import type { KindEntry, PrepareContext } from "../kind-entry.ts";
import { builtIn, status } from "../row.ts";

/** A namespace knows its own name as a label, and is kept by a finalizer of its own until it is empty. */
function prepareNamespace(draft: Draft, { old, subresource }: PrepareContext): void {
  draft.metadata.labels = { ...draft.metadata.labels, "kubernetes.io/metadata.name": draft.metadata.name ?? "" };
  if (old === undefined) {
    draft.spec = { finalizers: ["kubernetes"] };
    draft.status = { phase: "Active" };
  } else if (subresource !== "finalize") {
    draft.spec = draftOf(old.spec);
  }
}

export const namespaces: KindEntry = builtIn("", "v1", "Namespace", {
  namespaced: false,
  shortNames: ["ns"],
  names: "label",
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  prepare: prepareNamespace,
  columns: [nameColumn, text("Status", ".status.phase"), ageColumn],
  selectableFields: { "status.phase": (namespace) => String(valueAt(namespace, "status", "phase") ?? "") },
  subresources: { ...status, finalize: { verbs: ["update"] } },
});

function nodeStatus(node: ApiObject): string {
  const ready = listAt(node, "status", "conditions").find(({ type }) => type === "Ready");
  const words = [ready?.status === "True" ? "Ready" : "NotReady"];
  if (ready === undefined) words[0] = "Unknown";
  if (valueAt(node, "spec", "unschedulable") === true) words.push("SchedulingDisabled");
  return words.join(",");
}

const rolePrefix = "node-role.kubernetes.io/";

function roles({ metadata }: ApiObject): string {
  const labels = Object.entries(metadata.labels ?? {});
  const found = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return [...new Set(found)].sort().join(",") || "<none>";
}

const address = (wanted: string) => (node: ApiObject) =>
  String(listAt(node, "status", "addresses").find(({ type }) => type === wanted)?.address ?? "<none>");

const info = (name: string) => (node: ApiObject) => String(objectAt(node, "status", "nodeInfo")[name] || "<unknown>");

export const nodes: KindEntry = builtIn("", "v1", "Node", {
  namespaced: false,
  shortNames: ["no"],
  createsStatus: true,
  columns: [
    nameColumn,
    text("Status", nodeStatus),
    text("Roles", roles),
    ageColumn,
    text("Version", at(".status.nodeInfo.kubeletVersion", "")),
    text("Internal-IP", address("InternalIP"), wide),
    text("External-IP", address("ExternalIP"), wide),
    text("OS-Image", info("osImage"), wide),
    text("Kernel-Version", info("kernelVersion"), wide),
    text("Container-Runtime", info("containerRuntimeVersion"), wide),
  ],
  selectableFields: { "spec.unschedulable": (node) => String(valueAt(node, "spec", "unschedulable") === true) },
  subresources: { ...status, proxy: { verbs: ["create", "delete", "get", "patch", "update"] } },
});
