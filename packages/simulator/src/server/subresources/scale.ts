// Scale: how many, whatever it is that is counted. The same three numbers for Deployments and custom resources.
import { formatSelector, type LabelSelector } from "@memhog/runtime";
import { type ApiObject, type Draft, draftOf, isObject, type JsonObject, objectAt, valueAt } from "../../json.ts";
import type { KindEntry, ScalePaths } from "../../kinds/kind-entry.ts";
import { notNegative } from "../../kinds/validation.ts";
import { required } from "../field-error.ts";
import { invalid, noSuchResource } from "../status-error.ts";

export const scaleType = { group: "autoscaling", version: "v1", kind: "Scale" } as const;

function pathsOf(kind: KindEntry): ScalePaths {
  const paths = kind.subresources?.scale?.scale;
  if (paths === undefined) throw noSuchResource();
  return paths;
}

const fieldsOf = (path: string) => path.split(".").filter((field) => field !== "");

/** The Scale of an object. */
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

/** The object with the replicas that a Scale asks for. @throws StatusError */
export function withScale(kind: KindEntry, object: ApiObject, scale: JsonObject): Draft {
  const replicas = objectAt(scale, "spec").replicas ?? 0;
  const name = object.metadata.name ?? "";
  const errors = typeof replicas === "number" ? notNegative("spec.replicas", replicas) : [required("spec.replicas")];
  if (errors.length > 0) throw invalid(scaleType, name, errors);
  const draft = draftOf(object);
  set(draft, fieldsOf(pathsOf(kind).specReplicas), replicas);
  const asked = objectAt(scale, "metadata").resourceVersion;
  // The version that the Scale was read with is that of the object; without one the write is unconditional.
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
