// Rules: what a shape cannot say, said in CEL, so that the API server refuses bad objects itself and tells people why
// before any operator has seen them.
//
//     size: z.int().min(1).max(9).apply(rule, "self % 2 == 1", "Cluster size must be an odd number"),
//     source: exactlyOneOf(z.object({ secret: …optional(), url: …optional() }), "secret", "url"),
//     storage: quantity().apply(immutable),
//
// CEL is not evaluated on our side. A rule may be given a twin in TypeScript (`test`), which `parseObject` and
// `withDefaults` then also go by; it is the only code that a schema may carry into a CustomResourceDefinition.
import { z } from "zod";
import type { CelRule } from "./structural-types.ts";

export interface RuleOptions extends Omit<CelRule, "rule" | "message"> {
  /** The same in TypeScript, for objects checked before they reach the API server. @default no check on our side */
  readonly test?: (value: never) => boolean;
}

/** The same schema with a rule about its value, which is `self` in CEL. */
export function rule<S extends z.ZodType>(schema: S, cel: string, message: string, options: RuleOptions = {}): S {
  const { test, ...rest } = options;
  const tested = test === undefined ? schema : schema.refine(twin(test), message);
  const earlier = (z.globalRegistry.get(schema)?.["x-kubernetes-validations"] ?? []) as readonly CelRule[];
  return tested.meta({ "x-kubernetes-validations": [...earlier, { rule: cel, message, ...rest }] });
}

/** Marks code as the twin of a CEL rule: structural-schema.ts refuses all other code. */
export function twin(test: (value: never) => boolean): (value: unknown) => boolean {
  return Object.assign((value: unknown) => test(value as never), { celTwin: true as const });
}

/**
 * The value may not change once it is there. An optional field can still be added or removed: where that must not be
 * either, put `rule(…, "has(self.field) == has(oldSelf.field)", …)` on the object around it.
 */
export function immutable<S extends z.ZodType>(schema: S, message = "this field cannot be changed"): S {
  return rule(schema, "self == oldSelf", message);
}

/** Exactly one of these optional fields is set: how Kubernetes writes a choice between shapes. */
export function exactlyOneOf<S extends z.ZodObject>(schema: S, ...fields: readonly (keyof S["shape"] & string)[]): S {
  const present = fields.map((field) => `has(self.${celName(field)})`);
  return rule(schema, `[${present.join(", ")}].exists_one(set, set)`, `exactly one of ${fields.join(", ")} must be set`, {
    test: (value: Readonly<Record<string, unknown>>) => fields.filter((field) => value[field] !== undefined).length === 1,
  });
}

/** The name of a field in CEL: what is no identifier there is escaped as Kubernetes defines it ("storage-size" → "storage__dash__size"). */
export function celName(field: string): string {
  const escaped = field
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return keywords.has(escaped) ? `__${escaped}__` : escaped;
}

/** Words of CEL that need escaping as field names. (The API's own documentation leaves out the last three.) */
const keywords: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function"],
  ...["if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);
