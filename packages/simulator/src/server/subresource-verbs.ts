// Doors beside the main one. Those that change the object (status, resize, …) go through the same update as everything
// else; these speak a kind of their own, or do something else altogether.
import { json, objectAnswer, success } from "./answer.ts";
import { nowText } from "./core.ts";
import { bodyOf, draftIn, place } from "./decode.ts";
import { notImplemented } from "./status-error.ts";
import { bound } from "./subresources/binding.ts";
import { evict } from "./subresources/eviction.ts";
import { scaleOf, scaleType, withScale } from "./subresources/scale.ts";
import { liveObject, type VerbCall, type VerbHandler } from "./verbs.ts";
import { updateObject } from "./write.ts";
import { writeCallOf } from "./write-call.ts";

const getScale: VerbHandler = async ({ core, target }) =>
  json(200, JSON.stringify(scaleOf(target.kind, await liveObject(core, target))));

const putScale: VerbHandler = async ({ core, target, request, warn }) => {
  const scale = draftIn(bodyOf(request, "Scale"), scaleType);
  place(scale, target);
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

/** The main door of a namespace cannot write to its finalizers; this one can. */
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
const doors: Readonly<Record<string, VerbHandler>> = {
  "GET scale": getScale,
  "PUT scale": putScale,
  "POST binding": bind,
  "POST eviction": evictPod,
  "PUT finalize": finalize,
};

/** What answers at this door; undefined if it is a view of the object, to be read and written like the object. */
export function doorOf({ target, request }: VerbCall): VerbHandler | undefined {
  return doors[`${request.method} ${target.subresource}`];
}

/** Doors that lead out of the API server: logs, proxies. Others may have put something behind them. */
export const connect: VerbHandler = async ({ core, target, request }) => {
  const object = await liveObject(core, target);
  const door = `${target.kind.plural}/${target.subresource}`;
  const answer = core.connects.get(door);
  if (answer === undefined) throw notImplemented(door);
  return answer({ object, request, rest: target.rest ?? "" });
};

const views = ["status", "resize", "ephemeralcontainers", "scale", "binding", "eviction", "finalize"];

export function leadsOut(subresource: string): boolean {
  return !views.includes(subresource);
}
