// Subresources with their own kind or behavior. Subresources that change the object itself (status, resize, …) use the regular
// update.

import type { LabelSelector } from "@memhog/runtime/kinds";
import { formatSelector } from "@memhog/runtime/objects";
import { type ApiObject, type Draft, draftOf, isObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import type { KindEntry, ScalePaths } from "../kinds/kind-entry.ts";
import { notNegative } from "../kinds/validation.ts";
import { json, objectAnswer, success } from "./answer.ts";
import { nowText } from "./core.ts";
import { bodyOf, draftIn, setNamespace } from "./decode.ts";
import { evict } from "./eviction.ts";
import { messageOf, notSupported, required } from "./field-error.ts";
import { writeCallOf } from "./query.ts";
import { conflict, invalid, noSuchResource, notImplemented, StatusError } from "./status-error.ts";
import { liveObject, type VerbCall, type VerbHandler } from "./verbs.ts";
import { updateObject } from "./write.ts";

const getScale: VerbHandler = async ({ core, target }) =>
  json(200, JSON.stringify(scaleOf(target.kind, await liveObject(core, target))));

const putScale: VerbHandler = async ({ core, target, request, warn }) => {
  const scale = draftIn(bodyOf(request, "Scale"), scaleType);
  setNamespace(scale, target);
  const call = writeCallOf(request, target, "UpdateOptions", warn);
  const object = await updateObject(core, call, (old) => withScale(target.kind, old, scale));
  return json(200, JSON.stringify(scaleOf(target.kind, object)));
};

const bind: VerbHandler = async ({ core, target, request, warn }) => {
  const binding = draftIn(bodyOf(request, "Binding"), { group: "", version: "v1", kind: "Binding" });
  const call = writeCallOf(request, target, "CreateOptions", warn);
  await updateObject(core, call, (pod) => bound(pod, binding, nowText(core)));
  return success(undefined, 201);
};

const evictPod: VerbHandler = async ({ core, target, request }) => {
  const eviction = draftIn(bodyOf(request, "Eviction"), { group: "policy", version: "v1", kind: "Eviction" });
  await evict(core, target, eviction);
  return success(undefined, 201);
};

/** Only this subresource can change spec.finalizers of a namespace. */
const finalize: VerbHandler = async (call) => {
  const { core, target, request, warn } = call;
  const write = writeCallOf(request, target, "UpdateOptions", warn);
  const object = await updateObject(core, write, (old) => {
    const sent = draftIn(bodyOf(request, "Namespace"), target.kind);
    return {
      ...sent,
      metadata: { ...structuredClone(old.metadata) },
      status: structuredClone(old.status),
      spec: sent.spec ?? {},
    };
  });
  return objectAnswer(target.kind, object, { request, now: core.environment.clock.now() });
};

/** By "METHOD subresource". */
const handlers: Readonly<Record<string, VerbHandler>> = {
  "GET scale": getScale,
  "PUT scale": putScale,
  "POST binding": bind,
  "POST eviction": evictPod,
  "PUT finalize": finalize,
};

/** Returns the handler of a subresource, or undefined if it is a view that clients read and write like the object. */
export function subresourceHandler({ target, request }: VerbCall): VerbHandler | undefined {
  return handlers[`${request.method} ${target.subresource}`];
}

/** Subresources served outside the API server, such as logs and proxies. Components can add handlers for them. */
export const connect: VerbHandler = async ({ core, target, request }) => {
  const object = await liveObject(core, target);
  const name = `${target.kind.plural}/${target.subresource}`;
  const answer = core.connects.get(name);
  if (answer === undefined) throw notImplemented(name);
  return answer({ object, request, rest: target.rest ?? "" });
};

const views = ["status", "resize", "ephemeralcontainers", "scale", "binding", "eviction", "finalize"];

export function isExternal(subresource: string): boolean {
  return !views.includes(subresource);
}

// Binding: assigns a pod to a node and sets its PodScheduled condition.

/** Assigns the pod to a node. @throws StatusError if it already has a node or is being deleted */
export function bound(pod: ApiObject, binding: JsonObject, now: string): Draft {
  const target = objectAt(binding, "target");
  checkTargetIsNode(target);
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

function checkTargetIsNode({ kind, name }: JsonObject): void {
  const errors = [
    ...(kind === undefined || kind === "Node" ? [] : [notSupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(name ? [] : [required("target.name")]),
  ];
  // The real server returns a plain 500 here.
  if (errors.length > 0) throw new StatusError({ code: 500, reason: "", message: messageOf(errors) });
}

// Scale: the same three fields for Deployments and custom resources.

const scaleType = { group: "autoscaling", version: "v1", kind: "Scale" } as const;

function pathsOf(kind: KindEntry): ScalePaths {
  const paths = kind.subresources?.scale?.scale;
  if (paths === undefined) throw noSuchResource();
  return paths;
}

const fieldsOf = (path: string) => path.split(".").filter((field) => field !== "");

export function scaleOf(kind: KindEntry, object: ApiObject): ApiObject {
  const { specReplicas, statusReplicas, labelSelector } = pathsOf(kind);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, ...fieldsOf(specReplicas));
  const selector = selectorOf(object, labelSelector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: valueAt(object, ...fieldsOf(statusReplicas)) ?? 0, ...(selector && { selector }) },
  };
}

function selectorOf(object: ApiObject, path: string | undefined): string {
  if (path !== undefined) return String(valueAt(object, ...fieldsOf(path)) ?? "");
  const selector = valueAt(object, "spec", "selector");
  return isObject(selector) ? formatSelector(selector as LabelSelector) : "";
}

/** Returns the object with the replicas of the Scale. @throws StatusError */
export function withScale(kind: KindEntry, object: ApiObject, scale: JsonObject): Draft {
  const replicas = objectAt(scale, "spec").replicas ?? 0;
  const name = object.metadata.name ?? "";
  const errors = typeof replicas === "number" ? notNegative("spec.replicas", replicas) : [required("spec.replicas")];
  if (errors.length > 0) throw invalid(scaleType, name, errors);
  const draft = draftOf(object);
  set(draft, fieldsOf(pathsOf(kind).specReplicas), replicas);
  const asked = objectAt(scale, "metadata").resourceVersion;
  // The resourceVersion of a Scale is that of its object. Without one the write is unconditional.
  draft.metadata.resourceVersion = typeof asked === "string" && asked !== "" ? asked : (object.metadata.resourceVersion ?? "");
  return draft;
}

function set(object: JsonObject, [field = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    object[field] = value;
    return;
  }
  const inner = isObject(object[field]) ? object[field] : {};
  object[field] = inner;
  set(inner, rest, value);
}
