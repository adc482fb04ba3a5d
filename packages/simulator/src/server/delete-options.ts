// What a deletion is told: in its body as DeleteOptions, or in its query.
import { isObject, type JsonObject } from "../json.ts";
import { type FieldError, invalid, notSupported } from "./field-error.ts";
import type { ApiRequest } from "./handler.ts";
import { dryRunIn, invalidOptions, listIn, numberIn, type Query, textIn } from "./query.ts";
import { badRequest } from "./status-error.ts";

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun: boolean;
  /** As admission is shown it. */
  readonly asJson: JsonObject;
}

/** @throws StatusError */
export function deleteOptionsOf({ body, query = {} }: ApiRequest): DeleteOptions {
  // Whoever sends a body is not asked twice.
  return readOptions(body === undefined || body === "" ? fromQuery(query) : parsed(body));
}

/** Also for the options inside an Eviction. @throws StatusError */
export function readOptions(given: JsonObject): DeleteOptions {
  const errors = problemsOf(given);
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
  const { preconditions, gracePeriodSeconds, orphanDependents } = given;
  const legacy = typeof orphanDependents === "boolean" ? (orphanDependents ? "Orphan" : "Background") : undefined;
  const propagationPolicy = (given.propagationPolicy ?? legacy) as DeleteOptions["propagationPolicy"];
  const dryRun = dryRunIn(Array.isArray(given.dryRun) ? given.dryRun : [], "DeleteOptions");
  return {
    dryRun,
    asJson: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...given },
    ...(isObject(preconditions) && { preconditions }),
    ...(propagationPolicy && { propagationPolicy }),
    ...(typeof gracePeriodSeconds === "number" && { gracePeriodSeconds }),
  };
}

function fromQuery(query: Query): JsonObject {
  const propagationPolicy = textIn(query, "propagationPolicy");
  const gracePeriodSeconds = numberIn(query, "gracePeriodSeconds");
  const dryRun = listIn(query, "dryRun");
  return {
    ...(propagationPolicy && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function parsed(body: string): JsonObject {
  try {
    const value: unknown = JSON.parse(body);
    if (isObject(value)) return value;
  } catch {
    // said below
  }
  throw badRequest(
    "the object provided is unrecognized (must be of type DeleteOptions): couldn't get version/kind; json parse error",
  );
}

const policies = ["Foreground", "Background", "Orphan"];

function problemsOf({ propagationPolicy, orphanDependents }: JsonObject): readonly FieldError[] {
  if (propagationPolicy === undefined) return [];
  if (orphanDependents !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    return [invalid("propagationPolicy", propagationPolicy, why)];
  }
  const known = policies.includes(String(propagationPolicy));
  return known ? [] : [notSupported("propagationPolicy", propagationPolicy, [...policies, "nil"])];
}
