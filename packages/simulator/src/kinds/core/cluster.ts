// Namespaces, nodes, ConfigMaps, Secrets, ServiceAccounts, LimitRanges, and ResourceQuotas.
import { type ApiObject, type Draft, draftOf, type JsonObject, listAt, objectAt, valueAt } from "../../json.ts";
import { badRequest } from "../../server/status-error.ts";
import { ageColumn, at, nameColumn, text, wide } from "../columns.ts";
import { builtIn, type KindEntry, type PrepareContext, status } from "../kind-entry.ts";
import { configKeyErrors } from "../names.ts";
import { immutable, immutableData } from "../validation.ts";

/** Sets the name label and the finalizer in the spec that keeps a namespace until it is empty. */
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

// ConfigMaps, Secrets, and ServiceAccounts.

const entries = (object: ApiObject) =>
  Object.keys(objectAt(object, "data")).length + Object.keys(objectAt(object, "binaryData")).length;

const keyErrors = (object: ApiObject, ...fields: readonly string[]) =>
  fields.flatMap((field) => configKeyErrors(field, Object.keys(objectAt(object, field))));

export const configMaps: KindEntry = builtIn("", "v1", "ConfigMap", {
  shortNames: ["cm"],
  columns: [nameColumn, text("Data", entries), ageColumn],
  validate: (map, old) => [...immutableData(["data", "binaryData"], map, old), ...keyErrors(map, "data", "binaryData")],
});

/** Moves `stringData` to `data`, encoded as base64. */
function encodeStrings(draft: Draft): void {
  const { stringData, ...rest } = draft;
  const given = Object.entries(objectAt({ stringData }, "stringData"));
  if (given.length === 0) return;
  const encoded = given.map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")] as const);
  draft.data = { ...objectAt(rest, "data"), ...Object.fromEntries(encoded) };
  delete draft.stringData;
}

/** Rejects a Secret whose data is not base64. */
function checkBase64(draft: Draft): void {
  for (const value of Object.values(objectAt(draft, "data"))) {
    const wrong = String(value).search(/[^A-Za-z0-9+/=]/);
    if (wrong < 0) continue;
    throw badRequest(`Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${wrong}`);
  }
}

export const secrets: KindEntry = builtIn("", "v1", "Secret", {
  table: {
    type: "Opaque",
    "*": (draft: unknown) => {
      checkBase64(draft as Draft);
      encodeStrings(draft as Draft);
    },
  },
  columns: [nameColumn, text("Type", ".type"), text("Data", entries), ageColumn],
  selectableFields: { type: (secret) => String(secret.type ?? "") },
  validate: (secret, old) => [
    ...immutable("type", secret, old),
    ...immutableData(["data"], secret, old),
    ...keyErrors(secret, "data"),
  ],
});

export const serviceAccounts: KindEntry = builtIn("", "v1", "ServiceAccount", {
  shortNames: ["sa"],
  returnsDeleted: true,
  columns: [nameColumn, ageColumn],
  subresources: {
    token: { verbs: ["create"], requestKind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } },
  },
});

// LimitRanges and ResourceQuotas. Admission enforces them.

/** Defaults for containers: the limit from the maximum, the request from the limit or the minimum. */
function setLimitDefaults(limit: JsonObject): void {
  if (limit.type !== "Container") return;
  const max = objectAt(limit, "max");
  const defaults = { ...max, ...objectAt(limit, "default") };
  const request = { ...objectAt(limit, "min"), ...defaults, ...objectAt(limit, "defaultRequest") };
  if (Object.keys(defaults).length > 0) limit.default = defaults;
  if (Object.keys(request).length > 0) limit.defaultRequest = request;
}

export const limitRanges: KindEntry = builtIn("", "v1", "LimitRange", {
  shortNames: ["limits"],
  createOnUpdate: true,
  table: { "spec!": { "limits[]": { "*": setLimitDefaults } } },
});

const shown = (isLimit: boolean) => (quota: ApiObject) => {
  const used = objectAt(quota, "status", "used");
  const hard = Object.entries(objectAt(quota, "status", "hard")).filter(([name]) => name.startsWith("limits.") === isLimit);
  return hard
    .map(([name, amount]) => `${name}: ${used[name] ?? 0}/${amount}`)
    .sort()
    .join(", ");
};

export const resourceQuotas: KindEntry = builtIn("", "v1", "ResourceQuota", {
  shortNames: ["quota"],
  returnsDeleted: true,
  prepare: (draft: Draft, { old }: PrepareContext) => {
    if (old === undefined) draft.status = {};
  },
  columns: [nameColumn, text("Request", shown(false)), text("Limit", shown(true)), ageColumn],
  subresources: status,
});
