// Objects checked on our side, before or without an API server: files given to a CLI, bodies given to a webhook, objects a
// program is about to create. Only shapes, bounds and rules with a TypeScript twin are checked here (see rules.ts); the API
// server has the last word. Objects that come *from* the API server need none of this and must not be parsed: parsing drops
// unknown fields, and what a newer version of us wrote there would be lost.
import { z } from "zod";
import { apiVersionOf, type KubernetesObject, type ObjectOf } from "../objects/object.ts";
import type { AnyResource, InputOf } from "./define-resource.ts";
import { InvalidObjectError } from "./errors.ts";

/**
 * The object as the API server would store it: apiVersion and kind set, defaults filled in, unknown fields dropped.
 *
 *     await client.create(Memcached, withDefaults(Memcached, { metadata: { name: "a", namespace: "default" }, spec: {} }));
 *
 * @throws InvalidObjectError naming every fault
 */
export function withDefaults<R extends AnyResource>(resource: R, object: InputOf<R>): ObjectOf<R> {
  return parseObject(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object });
}

/** Anything, checked: the same as `withDefaults` for values whose type is not known. */
export function parseObject<R extends AnyResource>(resource: R, value: unknown): ObjectOf<R> {
  const result = objectOf(resource).safeParse(value);
  if (!result.success) throw new InvalidObjectError(nameOf(resource, value), result.error.issues.map(fault));
  return result.data as unknown as ObjectOf<R>;
}

function objectOf(resource: AnyResource) {
  const { spec, status } = resource.definition;
  const optionalSpec = spec.safeParse({}).success ? spec.prefault({}) : spec;
  return z.object({
    apiVersion: z.literal(apiVersionOf(resource)),
    kind: z.literal(resource.kind),
    metadata: z.looseObject({ name: z.string().max(253).optional() }),
    spec: optionalSpec,
    // What is reported is the operator's business; here it is kept as it is.
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
