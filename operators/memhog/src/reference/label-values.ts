// What the labels of our metrics can be. The keys are checked against the types they come from: a value that is added there does
// not compile here until it has its sentence.
import type { CommandOutcome } from "../act/outcome.ts";
import type { Command, Decision } from "../model/plan.ts";
import type { ActionOutcome, Road } from "../model/record.ts";
import type { QueryReport } from "../observe/memory-poller.ts";

type Values<T extends string> = Readonly<Record<T, string>>;

const decisions: Values<Decision["kind"]> = { raise: "more memory", hold: "no change" };

const queries: Values<QueryReport["outcome"]> = {
  answered: "in full",
  partial: "with warnings",
  PROMETHEUS_UNREACHABLE: "no connection, or no answer in time",
  PROMETHEUS_REFUSED: "it said no",
  PROMETHEUS_NOT_PROMETHEUS: "whoever answered is none: a login page, a proxy, a redirect",
  PROMETHEUS_TOO_LARGE: "more than we are willing to read",
  PROMETHEUS_CONFIG: "the address or a file cannot be used",
};

const roads: Values<Road> = {
  InPlace: "the pod was resized",
  CopyPod: "a bare pod was replaced by a copy",
  Template: "the owner's template was patched",
};

const outcomes: Values<ActionOutcome> = {
  Applied: "the memory is there",
  Abandoned: "what it was about is gone",
  Infeasible: "it never fits the node",
  Refused: "the API server said no",
  NotReady: "what should replace a pod did not become Ready",
};

const commands: Values<Command["do"]> = {
  resize: "`pods/resize`",
  createCopy: "make the bigger copy of a bare pod",
  deletePod: "delete the original, or a copy that was given up",
  patchTemplate: "apply memory to a template",
  evict: "evict a pod of the old size",
};

const endings: Values<CommandOutcome["ended"]> = {
  done: "accepted, or it was so already",
  changed: "the object changed in the meantime; decided again",
  gone: "the object is no more",
  stopped: "somebody does not want it any more",
  waits: "not now",
  infeasible: "never on this node",
  refused: "not until something changes",
  unknown: "there was no answer",
};

/** By metric and label. The values of `reason` have a page of their own. */
export const labelValues = [
  { metric: "memhog_decisions_total", label: "decision", values: decisions },
  { metric: "memhog_prometheus_queries_total", label: "outcome", values: queries },
  { metric: "memhog_resizes_total", label: "strategy", values: roads },
  { metric: "memhog_resizes_total", label: "outcome", values: outcomes },
  { metric: "memhog_commands_total", label: "command", values: commands },
  { metric: "memhog_commands_total", label: "ended", values: endings },
] as const;
