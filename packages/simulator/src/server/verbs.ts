// One function per verb.
import { type ApiObject, type Draft, draftOf, type JsonObject } from "../json.ts";
import { eventFormat, listAnswer, objectAnswer, success } from "./answer.ts";
import { type ApiRequest, type ApiResponse, oneAsServed, refOf, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { bodyOf, checkName, draftIn, setNamespace } from "./decode.ts";
import { deleteObject, deleteOptionsOf } from "./delete.ts";
import { listObjects } from "./list.ts";
import { textIn, writeCallOf } from "./query.ts";
import { badRequest, conflict, notFound, tooLargeResourceVersion } from "./status-error.ts";
import { watchObjects } from "./watch.ts";
import { createObject, updateObject } from "./write.ts";

export interface VerbCall {
  readonly core: ServerCore;
  readonly target: Target;
  readonly request: ApiRequest;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
}

export type VerbHandler = (call: VerbCall) => Promise<ApiResponse>;

const contextOf = ({ core, request }: VerbCall) => ({ request, now: core.environment.clock.now() });

/** Reads the object that the path names. @throws StatusError */
export function liveObject(core: ServerCore, target: Target): Promise<ApiObject> {
  const { kind, name = "" } = target;
  const found = core.storage.get(storedKindOf(kind), refOf(target, name));
  if (found === undefined) throw notFound(kind, name);
  return oneAsServed(kind, found);
}

export const get: VerbHandler = async (call) => {
  const { core, target, request } = call;
  const version = textIn(request.query ?? {}, "resourceVersion");
  if (version !== undefined && /^\d+$/.test(version) && BigInt(version) > core.storage.version) {
    throw tooLargeResourceVersion(BigInt(version), core.storage.version);
  }
  return objectAnswer(target.kind, await liveObject(core, target), contextOf(call));
};

export const list: VerbHandler = async (call) =>
  listAnswer(call.target.kind, await listObjects(call.core, call.target, call.request.query ?? {}), contextOf(call));

export const watch: VerbHandler = async ({ core, target, request }) => {
  const { query = {}, signal } = request;
  const format = eventFormat(target.kind, request, () => core.environment.clock.now());
  const body = watchObjects(core, { target, query, format, signal });
  return { status: 200, headers: { "content-type": "application/json" }, body };
};

export const create: VerbHandler = async (call) => {
  const { core, target, request } = call;
  const { kind } = target;
  const writeCall = writeCallOf(request, target, "CreateOptions", call.warn);
  const draft = draftIn(bodyOf(request, kind.kind), kind);
  setNamespace(draft, target);
  return objectAnswer(kind, await createObject(core, writeCall, draft), contextOf(call), 201);
};

export const update: VerbHandler = async (call) => {
  const { core, target, request, warn } = call;
  const { kind, name = "" } = target;
  const writeCall = writeCallOf(request, target, "UpdateOptions", warn);
  const body = bodyOf(request, kind.kind);
  let fresh: Draft | undefined = draftOfBody(body, target);
  const missing = core.storage.get(storedKindOf(kind), refOf(target, name)) === undefined;
  if (missing && kind.createOnUpdate === true && target.subresource === undefined) {
    return objectAnswer(kind, await createObject(core, writeCall, fresh), contextOf(call), 201);
  }
  const object = await updateObject(core, writeCall, (old) => {
    const draft = fresh ?? draftOfBody(body, target);
    fresh = undefined;
    mustBeSameObject(draft, old, target);
    return draft;
  });
  return objectAnswer(kind, object, contextOf(call));
};

/** Returns a new draft each time, because a retried write must not see changes made by the first attempt. */
function draftOfBody(body: JsonObject, target: Target): Draft {
  const draft = draftIn(draftOf(body), target.kind);
  setNamespace(draft, target);
  checkName(draft, target.name ?? "");
  return draft;
}

/** A PUT with a UID applies only to the object with that UID. */
function mustBeSameObject({ metadata }: Draft, old: ApiObject, { kind, namespace, name = "" }: Target): void {
  const { uid } = metadata;
  if (uid === undefined || uid === old.metadata.uid) return;
  const key = ["/registry", kind.group, kind.plural, namespace, name].filter((each) => each).join("/");
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
  throw conflict(
    kind,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

const preserved =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

export const remove: VerbHandler = async (call) => {
  const { core, target, request, warn } = call;
  const { kind, name = "" } = target;
  const options = deleteOptionsOf(request);
  if (kind.propagation === "Orphan" && options.propagationPolicy === undefined) warn(preserved);
  const { object, gone } = await deleteObject(core, target, options);
  if (!gone || kind.returnsDeleted === true) return objectAnswer(kind, object, contextOf(call));
  const { uid } = object.metadata;
  return success({ name, ...(kind.group && { group: kind.group }), kind: kind.plural, ...(uid && { uid }) });
};

export const removeAll: VerbHandler = async (call) => {
  const { core, target, request } = call;
  if (target.kind.namespaced && target.namespace === undefined) throw badRequest("a namespace is required");
  const options = deleteOptionsOf(request);
  const page = await listObjects(core, target, request.query ?? {});
  for (const { metadata } of page.items) {
    try {
      await deleteObject(core, { ...target, name: metadata.name ?? "" }, options);
    } catch (error) {
      if (!isNotFound(error)) throw error; // another client already deleted it
    }
  }
  return listAnswer(target.kind, page, contextOf(call));
};

function isNotFound(error: unknown): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === 404;
}
