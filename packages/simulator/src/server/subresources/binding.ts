// Binding: the scheduler's one write. It puts a pod onto a node and says so in a condition.
import { type ApiObject, type Draft, type JsonObject, listAt, objectAt, valueAt } from "../../json.ts";
import { notSupported, required, sentenceOf } from "../field-error.ts";
import { conflict, StatusError } from "../status-error.ts";

/** The pod on its node. @throws StatusError if it is on one, or on its way out */
export function bound(pod: ApiObject, binding: JsonObject, now: string): Draft {
  const target = objectAt(binding, "target");
  mustBeNode(target);
  const { name = "", deletionTimestamp } = pod.metadata;
  const subject = { group: "", plural: "pods/binding" };
  const current = valueAt(pod, "spec", "nodeName");
  if (deletionTimestamp !== undefined)
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (current) throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(current)}`);
  const draft: Draft = { ...pod, metadata: { ...pod.metadata } };
  draft.spec = { ...objectAt(draft, "spec"), nodeName: target.name };
  const others = listAt(draft, "status", "conditions").filter(({ type }) => type !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  draft.status = { ...objectAt(draft, "status"), conditions: [...others, scheduled] };
  const annotations = { ...pod.metadata.annotations, ...objectAt(binding, "metadata", "annotations") } as Record<string, string>;
  if (Object.keys(annotations).length > 0) draft.metadata.annotations = annotations;
  return draft;
}

function mustBeNode({ kind, name }: JsonObject): void {
  const errors = [
    ...(kind === undefined || kind === "Node" ? [] : [notSupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(name ? [] : [required("target.name")]),
  ];
  // The real server forgets to make this a proper refusal, and so it is a 500.
  if (errors.length > 0) throw new StatusError({ code: 500, reason: "", message: sentenceOf(errors) });
}
