import { type ApiObject, type Draft, draftOf, type JsonObject, listAt, objectAt, parseTime, valueAt } from "../../json.ts";
import { ageColumn, at, humanDuration, nameColumn, text, wide } from "../columns.ts";
import { applyDefaults, type Defaults } from "../defaults.ts";
import { builtIn, type Column, type KindEntry, type PrepareContext, readAndWrite, status } from "../kind-entry.ts";
import { podOnlyDefaults, podSpecDefaults, qosClassOf } from "../pod-template.ts";
import { podErrors, podUpdateErrors } from "../pod-validation.ts";

const table: Defaults = {
  "spec!": podSpecDefaults,
  "status!": { phase: "Pending" },
};
const own: Defaults = { "spec!": podOnlyDefaults };

/** Sets the phase Pending and the QoS class of a new pod. Ignores values from the client. */
function prepare(draft: Draft, { old, subresource }: PrepareContext): void {
  if (old === undefined) draft.status = { phase: "Pending", qosClass: qosClassOf(objectAt(draft, "spec")) };
  else if (subresource === "resize") keepAllButResources(draft, old);
  else if (subresource === "status") objectAt(draft, "status").qosClass ??= valueAt(old, "status", "qosClass");
}

/** pods/resize changes only resources. Keeps new containers, which validation rejects. */
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

/** The default grace period. Zero for a pod that has no node or has terminated. */
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

// The columns of `kubectl get pods`.

interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  lastRestart: number;
}

/** A sidecar is an init container with restartPolicy Always. */
function isSidecar(pod: ApiObject, name: unknown): boolean {
  return listAt(pod, "spec", "initContainers").some((each) => each.name === name && each.restartPolicy === "Always");
}

function tallyOf(pod: ApiObject): Tally {
  const status = objectAt(pod, "status");
  const tally: Tally = { reason: String(status.reason ?? status.phase ?? ""), ready: 0, restarts: 0, lastRestart: 0 };
  if (condition(pod, "PodScheduled").reason === "SchedulingGated") tally.reason = "SchedulingGated";
  const sidecars: Tally = { ...tally };
  const initializing = countInits(pod, tally, sidecars);
  if (!initializing || condition(pod, "Initialized").status === "True") countContainers(pod, tally, sidecars);
  const ended = status.phase === "Succeeded" || status.phase === "Failed";
  if (pod.metadata.deletionTimestamp !== undefined && !ended) {
    tally.reason = status.reason === "NodeLost" ? "Unknown" : "Terminating";
  }
  return tally;
}

/** Counts init containers up to the first one that is not done. Returns whether there is one. */
function countInits(pod: ApiObject, tally: Tally, sidecars: Tally): boolean {
  const statuses = listAt(pod, "status", "initContainerStatuses");
  for (const [index, status] of statuses.entries()) {
    const sidecar = isSidecar(pod, status.name);
    countRestarts(status, tally);
    if (sidecar) countRestarts(status, sidecars);
    const terminated = objectAt(status, "state", "terminated");
    if (terminated.exitCode === 0) continue;
    if (sidecar && status.started === true) {
      if (status.ready === true) tally.ready += 1;
      continue;
    }
    tally.reason = `Init:${initReason(status, index, listAt(pod, "spec", "initContainers").length)}`;
    return true;
  }
  return false;
}

function initReason(status: JsonObject, index: number, total: number): string {
  const terminated = valueAt(status, "state", "terminated");
  const waiting = objectAt(status, "state", "waiting").reason;
  if (terminated !== undefined) return endOf(terminated as JsonObject);
  return typeof waiting === "string" && waiting !== "PodInitializing" ? waiting : `${index}/${total}`;
}

function countContainers(pod: ApiObject, tally: Tally, sidecars: Tally): void {
  tally.restarts = sidecars.restarts;
  tally.lastRestart = sidecars.lastRestart;
  let running = false;
  for (const status of listAt(pod, "status", "containerStatuses").toReversed()) {
    countRestarts(status, tally);
    const { waiting, terminated, running: isRunning } = objectAt(status, "state") as Record<string, JsonObject | undefined>;
    if (waiting?.reason) tally.reason = String(waiting.reason);
    else if (terminated !== undefined) tally.reason = endOf(terminated);
    else if (status.ready === true && isRunning !== undefined) {
      running = true;
      tally.ready += 1;
    }
  }
  if (tally.reason === "Completed" && running) tally.reason = condition(pod, "Ready").status === "True" ? "Running" : "NotReady";
}

function countRestarts(status: JsonObject, tally: Tally): void {
  tally.restarts += Number(status.restartCount ?? 0);
  const finished = parseTime(valueAt(status, "lastState", "terminated", "finishedAt")) ?? 0;
  tally.lastRestart = Math.max(tally.lastRestart, finished);
}

function endOf({ reason, signal, exitCode }: JsonObject): string {
  return String(reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`));
}

function condition(pod: ApiObject, type: string): JsonObject {
  return listAt(pod, "status", "conditions").find((each) => each.type === type) ?? {};
}

function readyText(pod: ApiObject): string {
  const sidecars = listAt(pod, "spec", "initContainers").filter(({ restartPolicy }) => restartPolicy === "Always");
  return `${tallyOf(pod).ready}/${listAt(pod, "spec", "containers").length + sidecars.length}`;
}

function restartsText(pod: ApiObject, now: number): string {
  const { restarts, lastRestart } = tallyOf(pod);
  return restarts === 0 || lastRestart === 0 ? `${restarts}` : `${restarts} (${humanDuration(now - lastRestart)} ago)`;
}

function gatesText(pod: ApiObject): string {
  const gates = listAt(pod, "spec", "readinessGates");
  const ready = gates.filter(({ conditionType }) => condition(pod, String(conditionType)).status === "True");
  return gates.length === 0 ? "<none>" : `${ready.length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  nameColumn,
  text("Ready", readyText, { description: "The aggregate readiness state of this pod for accepting traffic." }),
  text("Status", (pod) => tallyOf(pod).reason, { description: "The aggregate status of the containers in this pod." }),
  text("Restarts", restartsText, { description: "The number of times the containers in this pod have been restarted." }),
  ageColumn,
  text("IP", at(".status.podIP", "<none>"), wide),
  text("Node", at(".spec.nodeName", "<none>"), wide),
  text("Nominated Node", at(".status.nominatedNodeName", "<none>"), wide),
  text("Readiness Gates", gatesText, wide),
];

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
      binding: { verbs: ["create"], requestKind: { group: "", version: "v1", kind: "Binding" } },
      eviction: { verbs: ["create"], requestKind: { group: "policy", version: "v1", kind: "Eviction" } },
      ...connects("attach", "exec", "portforward", "proxy"),
    },
  }),
  defaults: (draft) => {
    applyDefaults(draft, table);
    applyDefaults(draft, own);
  },
};
