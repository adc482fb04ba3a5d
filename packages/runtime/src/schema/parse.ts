// Validates objects without an API server: files passed to a CLI, request bodies of a webhook, objects to create. Checks types,
// bounds, and rules with a `test` (fields.ts); the API server also evaluates CEL. Do not parse objects that come from the API
// server: parsing drops unknown fields, so fields written by a newer version of the operator would be lost.
import { z } from "zod";
import { apiVersionOf, type KubernetesObject, type ObjectOf } from "../objects/object.ts";
import type { AnyResource, InputOf } from "./define-resource.ts";
import { InvalidObjectError } from "./errors.ts";

/**
 * Returns the object as the API server would store it: with apiVersion, kind and defaults, without unknown fields.
 *
 *     await client.create(Memcached, withDefaults(Memcached, { metadata: { name: "a", namespace: "default" }, spec: {} }));
 *
 * @throws InvalidObjectError with every validation error
 */
export function withDefaults<R extends AnyResource>(resource: R, object: InputOf<R>): ObjectOf<R> {
  return parseObject(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object });
}

/** Validates a value of unknown type; otherwise like `withDefaults`. @throws InvalidObjectError */
export function parseObject<R extends AnyResource>(resource: R, value: unknown): ObjectOf<R> {
  const result = objectOf(resource).safeParse(value);
  if (!result.success) throw new InvalidObjectError(nameOf(resource, value), result.error.issues.map(fault));
  // The schema was built from `resource` just above, so its output is ObjectOf<R>. TypeScript cannot follow that, because the
  // schema of AnyResource has lost its type parameters.
  return result.data as KubernetesObject as ObjectOf<R>;
}

function objectOf(resource: AnyResource) {
  const { spec, status } = resource.definition;
  const optionalSpec = spec.safeParse({}).success ? spec.prefault({}) : spec;
  return z.object({
    apiVersion: z.literal(apiVersionOf(resource)),
    kind: z.literal(resource.kind),
    metadata: z.looseObject({ name: z.string().max(253).optional() }),
    spec: optionalSpec,
    // The operator writes the status, so it is not validated here.
    ...(status !== undefined && { status: z.looseObject({}).optional() }),
  });
}

function nameOf({ kind }: AnyResource, value: unknown): string {
  const name = (value as KubernetesObject | null)?.metadata?.name;
  return name === undefined ? kind : `${kind} ${name}`;
}

function fault({ path, message }: z.core.$ZodIssue): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return `${steps.slice(1) || "object"}: ${message}`;
}
