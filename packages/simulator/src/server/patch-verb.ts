// PATCH: selects the patch format, patches the object or its Scale, and creates the object if apply does not find it.
import { type ApiObject, type Draft, isObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import { json, objectAnswer } from "./answer.ts";
import { type ApiRequest, nowText, type PatchCall, type PatchType, refOf, storedKindOf, type Target } from "./core.ts";
import { checkName, setNamespace } from "./decode.ts";
import { flagIn, textIn, writeCallOf } from "./query.ts";
import { badRequest, invalid, invalidPatch, StatusError } from "./status-error.ts";
import { scaleOf, withScale } from "./subresources.ts";
import type { VerbHandler } from "./verbs.ts";
import { createObject, updateObject } from "./write.ts";

const types: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

export const patch: VerbHandler = async ({ core, target, request, warn }) => {
  const { kind, name = "" } = target;
  const { query = {} } = request;
  const type = typeOf(request, kind);
  const writeCall = {
    ...writeCallOf(request, target, "PatchOptions", warn),
    applied: type === "apply",
    patched: type !== "apply",
  };
  if (type === "apply" && textIn(query, "fieldManager") === undefined) throw managerRequired();
  const force = flagIn(query, "force");
  const common = { type, patch: parsed(request, type), kind, manager: writeCall.manager, force };
  const callOn = (live: ApiObject | undefined): PatchCall => ({
    ...common,
    subresource: target.subresource,
    live,
    now: nowText(core),
  });
  const context = { request, now: core.environment.clock.now() };
  if (target.subresource === "scale") {
    const scaled = await updateObject(core, { ...writeCall, applied: false }, (old) =>
      withScale(kind, old, core.patching.patch(callOn(scaleOf(kind, old)))),
    );
    return json(200, JSON.stringify(scaleOf(kind, scaled)));
  }
  const missing = core.storage.get(storedKindOf(kind), refOf(target, name)) === undefined;
  if (missing && type === "apply" && target.subresource === undefined) {
    const draft = placed(core.patching.patch(callOn(undefined)), target);
    delete draft.metadata.resourceVersion; // may be the version of a deleted object; apply ignores it
    return objectAnswer(kind, await createObject(core, writeCall, draft), context, 201);
  }
  const object = await updateObject(core, writeCall, (old) => placed(core.patching.patch(callOn(old)), target));
  return objectAnswer(kind, object, context);
};

/** Checks that the patch kept the identity of the object. */
function placed(draft: Draft, target: Target): Draft {
  mustBeSameType(draft, target.kind);
  draft.metadata ??= {};
  setNamespace(draft, target);
  checkName(draft, target.name ?? "");
  return draft;
}

function mustBeSameType(draft: Draft, kind: KindEntry): void {
  const { apiVersion, kind: found } = draft;
  if (found === kind.kind && apiVersion === apiVersionOf(kind)) return;
  const why = `no kind "${found}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  throw invalidPatch(draft, why);
}

function typeOf({ headers = {} }: ApiRequest, kind: KindEntry): PatchType {
  const type = types[headers["content-type"]?.split(";")[0]?.trim() ?? ""];
  const possible = type !== "strategic" || kind.customResource === undefined;
  if (type !== undefined && possible) return type;
  if (type === undefined) {
    throw new StatusError({ code: 415, reason: "UnsupportedMediaType", message: "415: Unsupported Media Type", details: {} });
  }
  const accepted = Object.keys(types).filter((each) => types[each] !== "strategic");
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  throw new StatusError({ code: 415, reason: "UnsupportedMediaType", message });
}

function parsed({ body = "" }: ApiRequest, type: PatchType): unknown {
  try {
    const value: unknown = JSON.parse(body);
    if (type === "json" ? Array.isArray(value) : isObject(value)) return value;
  } catch {
    // reported below
  }
  if (type === "apply")
    throw badRequest("error decoding YAML: expected an object in JSON, which the simulator wants instead of YAML");
  throw badRequest(type === "json" ? "error decoding patch: expected a list of operations" : "invalid JSON patch");
}

function managerRequired() {
  const why = { reason: "FieldValueRequired", field: "fieldManager", message: "Required value: is required for apply patch" };
  return invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [why]);
}
