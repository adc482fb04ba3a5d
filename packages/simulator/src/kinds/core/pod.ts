import { type ApiObject, type Draft, type JsonObject, objectAt, valueAt } from "../../json.ts";
import { applyDefaults, type Defaults } from "../defaults.ts";
import type { KindEntry, PrepareContext } from "../kind-entry.ts";
import { podOnlyDefaults, podSpecDefaults } from "../pod-template.ts";
import { podErrors, podUpdateErrors } from "../pod-validation.ts";
import { qosClassOf } from "../qos.ts";
import { builtIn, readAndWrite, status } from "../row.ts";
import { podColumns } from "./pod-columns.ts";

/** Go writes the times of a condition even if there are none. */
function writeTimes(condition: JsonObject): void {
  condition.lastProbeTime ??= null;
  condition.lastTransitionTime ??= null;
}

const table: Defaults = {
  "spec!": podSpecDefaults,
  "status!": { phase: "Pending", "conditions[]": { "*": writeTimes } },
};
const own: Defaults = { "spec!": podOnlyDefaults };

/** A new pod is Pending, and of the class that its resources make it; neither is for its maker to say. */
function prepare(draft: Draft, { old, subresource }: PrepareContext): void {
  if (old === undefined) draft.status = { phase: "Pending", qosClass: qosClassOf(objectAt(draft, "spec")) };
  else if (subresource === "status") objectAt(draft, "status").qosClass ??= valueAt(old, "status", "qosClass");
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
