import { type ApiObject, type Draft, draftOf, listAt, objectAt, valueAt } from "../../json.ts";
import { applyDefaults, type Defaults } from "../defaults.ts";
import type { KindEntry, PrepareContext } from "../kind-entry.ts";
import { podOnlyDefaults, podSpecDefaults } from "../pod-template.ts";
import { podErrors, podUpdateErrors } from "../pod-validation.ts";
import { qosClassOf } from "../qos.ts";
import { builtIn, readAndWrite, status } from "../row.ts";
import { podColumns } from "./pod-columns.ts";

const table: Defaults = {
  "spec!": podSpecDefaults,
  "status!": { phase: "Pending" },
};
const own: Defaults = { "spec!": podOnlyDefaults };

/** A new pod is Pending, and of the class that its resources make it; neither is for its maker to say. */
function prepare(draft: Draft, { old, subresource }: PrepareContext): void {
  if (old === undefined) draft.status = { phase: "Pending", qosClass: qosClassOf(objectAt(draft, "spec")) };
  else if (subresource === "resize") keepAllButResources(draft, old);
  else if (subresource === "status") objectAt(draft, "status").qosClass ??= valueAt(old, "status", "qosClass");
}

/** Through this door come resources and nothing else. Containers that were not there are kept for validation to find. */
function keepAllButResources(draft: Draft, old: ApiObject): void {
  const resized = (field: string) =>
    listAt(draft, "spec", field).map((container) => {
      const before = listAt(old, "spec", field).find(({ name }) => name === container.name);
      const { resources, resizePolicy } = container;
      return before === undefined ? container : { ...draftOf(before), resources, ...(resizePolicy ? { resizePolicy } : {}) };
    });
  const { managedFields } = draft.metadata;
  const [containers, initContainers] = [resized("containers"), resized("initContainers")];
  draft.spec = { ...draftOf(objectAt(old, "spec")), containers, ...(initContainers.length > 0 && { initContainers }) };
  draft.metadata = { ...draftOf(old).metadata, ...(managedFields && { managedFields }) };
}

/** Seconds a pod has to end. One that runs nowhere, or has ended, needs none. */
function gracePeriod(pod: ApiObject): number {
  const phase = valueAt(pod, "status", "phase");
  const asleep = !valueAt(pod, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed";
  return asleep ? 0 : Number(valueAt(pod, "spec", "terminationGracePeriodSeconds") ?? 30);
}

const connects = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { verbs: ["create", "get"] }] as const));

const field =
  (...path: readonly string[]) =>
  (pod: ApiObject) =>
    String(valueAt(pod, ...path) ?? "");

export const pods: KindEntry = {
  ...builtIn("", "v1", "Pod", {
    shortNames: ["po"],
    categories: ["all"],
    generation: "spec",
    returnsDeleted: true,
    prepare,
    gracePeriod,
    columns: podColumns,
    selectableFields: {
      "spec.nodeName": field("spec", "nodeName"),
      "spec.restartPolicy": field("spec", "restartPolicy"),
      "spec.schedulerName": field("spec", "schedulerName"),
      "spec.serviceAccountName": field("spec", "serviceAccountName"),
      "spec.hostNetwork": (pod) => String(valueAt(pod, "spec", "hostNetwork") === true),
      "status.phase": field("status", "phase"),
      "status.podIP": field("status", "podIP"),
      "status.podIPs": field("status", "podIP"),
      "status.nominatedNodeName": field("status", "nominatedNodeName"),
    },
    validate: (pod, old, { subresource }) =>
      subresource === undefined && old !== undefined ? [...podErrors(pod), ...podUpdateErrors(pod, old)] : podErrors(pod),
    subresources: {
      ...status,
      resize: readAndWrite,
      ephemeralcontainers: readAndWrite,
      log: { verbs: ["get"] },
      binding: { verbs: ["create"], speaks: { group: "", version: "v1", kind: "Binding" } },
      eviction: { verbs: ["create"], speaks: { group: "policy", version: "v1", kind: "Eviction" } },
      ...connects("attach", "exec", "portforward", "proxy"),
    },
  }),
  defaults: (draft) => {
    applyDefaults(draft, table);
    applyDefaults(draft, own);
  },
};
