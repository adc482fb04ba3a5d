// The rules of a schema (`x-kubernetes-validations`), compiled once and evaluated per object. A rule that uses `oldSelf` runs
// only on updates. As with the rest of the schema, an update does not report values that it leaves unchanged.
import { type ASTNode, type Environment, Optional } from "@marcbachmann/cel-js";
import { isObject, sameJson } from "../json.ts";
import { duplicate, type FieldError, forbiddenField, required } from "../server/field-error.ts";
import { celValue, compile, EvaluationFailure, escaped, type Program } from "./cel.ts";
import { correlatedItem, invalidValue, invalidWhole, noField } from "./schema-errors.ts";
import { isNamed, type Rule, type StructuralSchema } from "./structural-schema.ts";

/** A schema node that has rules, or has descendants with rules. */
export interface RuleNode {
  readonly schema: StructuralSchema;
  readonly isRoot: boolean;
  readonly rules: readonly CompiledRule[];
  readonly fields: ReadonlyMap<string, RuleNode>;
  /** The rules for the values of a map. */
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

interface CompiledRule {
  readonly rule: Rule;
  readonly program: Program;
  readonly message: Program | undefined;
}

/** Returns undefined if the schema has no rules. @throws CompilationFailure */
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
  /** Whether this value, or its nearest comparable ancestor, is unchanged. */
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
  return [ruleError(rule, messageOf(compiled, variables), { value, path: path + (rule.fieldPath ?? ""), schema })];
}

/** Wraps the old value in an optional if the rule has optionalOldSelf. */
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

function ruleError(
  rule: Rule,
  detail: string,
  { value, path, schema }: { value: unknown; path: string; schema: StructuralSchema },
): FieldError {
  const field = path === "" ? noField : path.replace(/^\./, "");
  const isWhole = schema.type === "object" || schema.type === "array";
  if (rule.reason === "FieldValueForbidden") return forbiddenField(field, detail);
  if (rule.reason === "FieldValueRequired") return required(field, detail);
  if (rule.reason === "FieldValueDuplicate")
    return isWhole ? { ...duplicate(field, ""), message: "Duplicate value" } : duplicate(field, value);
  return isWhole ? invalidWhole(field, detail) : invalidValue(field, value, detail);
}

// Finds fields in a rule that its schema does not have. Follows `self` and `oldSelf` through fields, lists, maps, and the variables
// of all(), exists(), filter(), and similar macros. Accepts everything it cannot follow.

/** The schema of each variable. Undefined if unknown. */
type Scope = ReadonlyMap<string, StructuralSchema | undefined>;

interface Missing {
  readonly field: string;
  /** The position of the preceding dot in the source. */
  readonly at: number;
}

/** Returns a compilation error in the format of cel-go, or undefined if all fields exist. */
export function unknownFields(ast: ASTNode, schema: StructuralSchema, isRoot: boolean): string | undefined {
  const self = isRoot ? withMetadata(schema) : schema;
  const found: Missing[] = [];
  typeOf(
    ast,
    new Map([
      ["self", self],
      ["oldSelf", self],
    ]),
    found,
  );
  return found.length === 0 ? undefined : found.map((missing) => sentence(ast.input, missing)).join("\n");
}

function sentence(source: string, { field, at }: Missing): string {
  const before = source.slice(0, at).split("\n");
  const line = source.split("\n")[before.length - 1] ?? "";
  const column = before.at(-1)?.length ?? 0;
  return `ERROR: <input>:${before.length}:${column + 1}: undefined field '${field}'\n | ${line}\n | ${".".repeat(column)}^`;
}

/** A rule on the object itself can use metadata.name. */
function withMetadata(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: "string" };
  const metadata: StructuralSchema = { type: "object", properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}

function typeOf(node: ASTNode, scope: Scope, found: Missing[]): StructuralSchema | undefined {
  if (node.op === "id") return scope.get(node.args);
  if (node.op === "." || node.op === ".?") return fieldOf(node.args[0], node.args[1], scope, found);
  if (node.op === "[]" || node.op === "[?]") {
    typeOf(node.args[1], scope, found);
    const base = typeOf(node.args[0], scope, found);
    return base?.items ?? valuesOf(base);
  }
  if (node.op === "rcall") return callOf(node.args, scope, found);
  for (const child of childrenOf(node.args)) typeOf(child, scope, found);
  return undefined;
}

function fieldOf(base: ASTNode, name: string, scope: Scope, found: Missing[]): StructuralSchema | undefined {
  const type = typeOf(base, scope, found);
  if (type?.properties === undefined) return valuesOf(type);
  const field = Object.entries(type.properties).find(([each]) => escaped(each) === name)?.[1];
  if (field === undefined) found.push({ field: name, at: base.input.indexOf(".", base.range.end) });
  return field;
}

function valuesOf(type: StructuralSchema | undefined): StructuralSchema | undefined {
  return isObject(type?.additionalProperties) ? (type.additionalProperties as StructuralSchema) : undefined;
}

const comprehensions = new Set(["all", "exists", "exists_one", "map", "filter"]);

function callOf(
  [name, receiver, args]: [string, ASTNode, ASTNode[]],
  scope: Scope,
  found: Missing[],
): StructuralSchema | undefined {
  const type = typeOf(receiver, scope, found);
  const [variable, ...rest] = args;
  if (!comprehensions.has(name) || variable?.op !== "id") {
    for (const arg of args) typeOf(arg, scope, found);
    return undefined;
  }
  // The variable of a list macro is an element. The variable of a map macro is a key, which has no fields.
  const inner = new Map(scope).set(variable.args, type?.items);
  for (const arg of rest) typeOf(arg, inner, found);
  return name === "filter" ? type : undefined;
}

function childrenOf(args: unknown): readonly ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return isObject(value) && typeof value.op === "string";
}
