// The values of metric labels and their meanings. The keys are typed: adding a value to its type is a compile error until it is
// documented here.
import type { CommandOutcome } from "../execute/outcome.ts";
import type { ActionOutcome, Command, Decision, Method, Shrink } from "../model/plan.ts";
import type { QueryReport } from "../observe/memory-poller.ts";

type Values<T extends string> = Readonly<Record<T, string>>;

const decisions: Values<Decision["kind"]> = { raise: "raise the memory of the container", hold: "no change" };

const queries: Values<QueryReport["outcome"]> = {
  answered: "complete response",
  partial: "response with warnings; it may be incomplete",
  PROMETHEUS_UNREACHABLE: "no connection, or no response within the timeout",
  PROMETHEUS_REFUSED: "Prometheus returned an error",
  PROMETHEUS_NOT_PROMETHEUS: "the response is not from Prometheus: a login page, a proxy or a redirect",
  PROMETHEUS_TOO_LARGE: "the response is too large",
  PROMETHEUS_CONFIG: "the address or a configured file is invalid",
};

const methods: Values<Method> = {
  InPlace: "resize of the pod",
  CopyPod: "replacement of a bare pod by a larger copy",
  Template: "patch of the owner's pod template",
};

const outcomes: Values<ActionOutcome> = {
  Applied: "the new memory is in effect",
  Abandoned: "the pod or its owner is gone",
  Infeasible: "the raise does not fit on the node",
  Refused: "the API server rejected it",
  NotReady: "the replacement pod did not become Ready",
};

const shrinks: Values<Exclude<Shrink["state"], "Pending" | "Reverting">> = {
  Applied: "the kubelet confirmed the lower memory",
  Undone: "usage came near, and the limit was raised again",
  Refused: "the API server rejected it",
};

const commands: Values<Command["do"]> = {
  resize: "`pods/resize`",
  createCopy: "create the larger copy of a bare pod",
  deletePod: "delete the original pod, or an abandoned copy",
  restoreTemplate: "set the memory in the pod template back after a rollout that was stuck",
  patchTemplate: "apply new memory to a pod template",
  evict: "evict a pod that still has the old memory",
};

const endings: Values<CommandOutcome["outcome"]> = {
  done: "accepted, or already in effect",
  changed: "the object changed in the meantime; the app is evaluated again",
  gone: "the object no longer exists",
  stopped: "the raise is no longer wanted, for example because the AppMonitor is paused",
  waits: "rejected for now; retried later",
  infeasible: "does not fit on the node",
  refused: "rejected; not retried until something changes",
  unknown: "no response, so the outcome is unknown",
};

/** The values of `reason` are documented on their own page. */
export const labelValues = [
  { metric: "memhog_decisions_total", label: "decision", values: decisions },
  { metric: "memhog_prometheus_queries_total", label: "outcome", values: queries },
  { metric: "memhog_resizes_total", label: "method", values: methods },
  { metric: "memhog_resizes_total", label: "outcome", values: outcomes },
  { metric: "memhog_shrinks_total", label: "outcome", values: shrinks },
  { metric: "memhog_commands_total", label: "command", values: commands },
  { metric: "memhog_commands_total", label: "outcome", values: endings },
] as const;
