// Finds the fields a rule asks for that its schema has not, before anybody relies on the rule. It follows `self` and
// `oldSelf` through fields, lists, maps and the variables of all(), exists(), filter() and their kin; what it loses sight of it
// does not judge.
import type { ASTNode } from "@marcbachmann/cel-js";
import { isObject } from "../../json.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { escaped } from "./values.ts";

/** What a name stands for; undefined if that is not known. */
type Scope = ReadonlyMap<string, StructuralSchema | undefined>;

interface Missing {
  readonly field: string;
  /** Where in the text the dot before it is. */
  readonly at: number;
}

/** In the words of cel-go, or undefined if all is well. */
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

/** Of metadata a rule sees the name. */
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
  // The variable of a list is its elements, that of a map its keys, of which there is nothing to ask for.
  const inner = new Map(scope).set(variable.args, type?.items);
  for (const arg of rest) typeOf(arg, inner, found);
  return name === "filter" ? type : undefined;
}

function childrenOf(args: unknown): readonly ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isObject(args) && typeof args.op === "string" ? [args as unknown as ASTNode] : [];
}
