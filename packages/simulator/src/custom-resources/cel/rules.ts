// The rules of a schema (`x-kubernetes-validations`), compiled once, and what they have to say about an object. A rule that
// speaks of `oldSelf` is asked only where there was something before. On an update a complaint about what has not changed is
// not repeated, as for the rest of the schema.
import { type Environment, Optional } from "@marcbachmann/cel-js";
import { isObject, sameJson } from "../../json.ts";
import { duplicate, type FieldError, forbiddenField, required } from "../../server/field-error.ts";
import { invalidValue, invalidWhole, nowhere } from "../complaints.ts";
import { correlatedItem } from "../schema-errors.ts";
import { isNamed, type Rule, type StructuralSchema } from "../structural-schema.ts";
import { compile, EvaluationFailure, type Program } from "./compile.ts";
import { celValue } from "./values.ts";

/** A schema node with rules, or with some below. */
export interface RuleNode {
  readonly schema: StructuralSchema;
  readonly isRoot: boolean;
  readonly rules: readonly CompiledRule[];
  readonly fields: ReadonlyMap<string, RuleNode>;
  /** Values of a map. */
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

interface CompiledRule {
  readonly rule: Rule;
  readonly program: Program;
  readonly message: Program | undefined;
}

/** Undefined if there are no rules. @throws CompilationFailure */
export function compileRules(schema: StructuralSchema, environment: Environment, isRoot = true): RuleNode | undefined {
  const typing = { schema, isRoot };
  const compiled = (schema["x-kubernetes-validations"] ?? []).map((rule) => ({
    rule,
    program: compile(rule.rule, environment, typing),
    message: rule.messageExpression ? compile(rule.messageExpression, environment, typing) : undefined,
  }));
  const below = (child: unknown) => (isObject(child) ? compileRules(child as StructuralSchema, environment, false) : undefined);
  const named = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, below(field)] as const);
  const fields = new Map(named.filter((entry): entry is readonly [string, RuleNode] => entry[1] !== undefined));
  const [values, items] = [below(schema.additionalProperties), below(schema.items)];
  const hasNone = compiled.length === 0 && fields.size === 0 && values === undefined && items === undefined;
  return hasNone ? undefined : { schema, isRoot, rules: compiled, fields, values, items };
}

interface Place {
  readonly value: unknown;
  readonly old: unknown;
  readonly path: string;
  /** Whether this, or the nearest thing above that can be compared, is as it was. */
  readonly unchanged: boolean;
}

export function ruleErrors(value: unknown, old: unknown, node: RuleNode | undefined): readonly FieldError[] {
  if (node === undefined) return [];
  const unchanged = old !== undefined && sameJson(value, old);
  return visit({ value, old, path: "", unchanged }, node);
}

function visit(place: Place, node: RuleNode): readonly FieldError[] {
  const { value } = place;
  if (value === null || value === undefined) return [];
  const own = node.rules.flatMap((rule) => errorOf(rule, place, node));
  if (Array.isArray(value)) return [...own, ...value.flatMap((item, at) => visitItem(item, at, place, node))];
  if (!isObject(value)) return own;
  return [...own, ...Object.keys(value).flatMap((name) => visitField(name, place, node))];
}

function visitField(name: string, place: Place, node: RuleNode): readonly FieldError[] {
  const { value, old, path } = place;
  const named = isNamed(node.schema, name);
  const child = named ? node.fields.get(name) : node.values;
  if (child === undefined) return [];
  const below = named ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
  const before = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
  return visit(placed((value as Record<string, unknown>)[name], before, { ...place, path: below }), child);
}

function visitItem(item: unknown, at: number, place: Place, { schema, items }: RuleNode): readonly FieldError[] {
  if (items === undefined) return [];
  const before = correlatedItem(item, place.old, schema);
  return visit(placed(item, before, { ...place, path: `${place.path}[${at}]` }), items);
}

function placed(value: unknown, old: unknown, { path, unchanged }: Place): Place {
  return { value, old, path, unchanged: old === undefined ? unchanged : sameJson(value, old) };
}

function errorOf(compiled: CompiledRule, place: Place, { schema, isRoot }: RuleNode): readonly FieldError[] {
  const { rule, program } = compiled;
  const { value, old, path, unchanged } = place;
  if (program.usesOldSelf && old === undefined && rule.optionalOldSelf !== true) return [];
  const variables = { self: celValue(value, schema, isRoot), ...oldSelf(rule, old, schema, isRoot) };
  try {
    if (program.run(variables) === true) return [];
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    return [invalidValue(path, schema.type ?? "", failureText(error, rule))];
  }
  if (unchanged && !program.usesOldSelf) return [];
  return [refusal(rule, messageOf(compiled, variables), { value, path: path + (rule.fieldPath ?? ""), schema })];
}

/** An optional old value is wrapped, so that a rule can ask whether there is one. */
function oldSelf({ optionalOldSelf }: Rule, old: unknown, schema: StructuralSchema, isRoot: boolean): { oldSelf?: unknown } {
  if (optionalOldSelf === true) {
    const wrapped = old === undefined ? Optional.none() : Optional.of(celValue(old, schema, isRoot));
    return { oldSelf: wrapped };
  }
  return old === undefined ? {} : { oldSelf: celValue(old, schema, isRoot) };
}

function failureText({ message, isOverload }: EvaluationFailure, rule: Rule): string {
  if (!isOverload) return `${message} evaluating rule: ${nameOf(rule)}`;
  const why = "call arguments did not match a supported operator, function or macro signature for rule";
  return `'${message}': ${why}: ${nameOf(rule)}`;
}

function nameOf({ message, rule }: Rule): string {
  return (message || rule).trim();
}

function messageOf({ rule, message }: CompiledRule, variables: Parameters<Program["run"]>[0]): string {
  const otherwise = rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`;
  if (message === undefined) return otherwise;
  try {
    const text = String(message.run(variables)).trim();
    return text === "" || text.includes("\n") ? otherwise : text;
  } catch {
    return otherwise;
  }
}

function refusal(
  rule: Rule,
  detail: string,
  { value, path, schema }: { value: unknown; path: string; schema: StructuralSchema },
): FieldError {
  const field = path === "" ? nowhere : path.replace(/^\./, "");
  const isWhole = schema.type === "object" || schema.type === "array";
  if (rule.reason === "FieldValueForbidden") return forbiddenField(field, detail);
  if (rule.reason === "FieldValueRequired") return required(field, detail);
  if (rule.reason === "FieldValueDuplicate")
    return isWhole ? { ...duplicate(field, ""), message: "Duplicate value" } : duplicate(field, value);
  return isWhole ? invalidWhole(field, detail) : invalidValue(field, value, detail);
}
