// The parser. The grammar is the one of Prometheus's own editor; this file walks its tree, checks types and labels, and rejects
// what the simulator does not support, by name.
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { type Matcher, matcher, matchesNothingness, nameLabel } from "../labels.ts";
import {
  type Aggregation,
  type Binary,
  type Expression,
  type Matching,
  NotImplementedError,
  ParseError,
  parseNumber,
  parsePromDuration,
  parseString,
  type Selector,
  typeNames,
  typeOf,
  type ValueType,
} from "./expression.ts";
import { rangeFunctions } from "./vector-functions.ts";

/** @throws ParseError, NotImplementedError */
export function parse(query: string): Expression {
  if (query.trim() === "") throw new ParseError(query, 0, "no expression found in input");
  const root = parser.parse(query).topNode;
  const broken = firstError(root);
  if (broken !== undefined) throw unexpected(query, broken);
  const [only] = childrenOf(root);
  if (only === undefined) throw new ParseError(query, 0, "no expression found in input");
  return new Walk(query).expression(only);
}

function firstError(root: SyntaxNode): SyntaxNode | undefined {
  if (root.type.isError) return root;
  for (const child of childrenOf(root)) {
    const found = firstError(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unexpected(query: string, { from, to, prevSibling }: SyntaxNode): ParseError {
  const called = query.slice(from, from + 1) === "(" && prevSibling?.name === "Identifier";
  if (called) {
    const name = query.slice(prevSibling.from, prevSibling.to);
    return new ParseError(query, prevSibling.from, `unknown function with name "${name}"`);
  }
  const found = query.slice(from, Math.max(to, from)).trim();
  return new ParseError(query, from, found === "" ? "unexpected end of input" : `unexpected ${JSON.stringify(found)}`);
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** Walks the tree of one query. */
class Walk {
  readonly #query: string;

  constructor(query: string) {
    this.#query = query;
  }

  expression(node: SyntaxNode): Expression {
    switch (node.name) {
      case "NumberDurationLiteral":
        return { kind: "number", value: parseNumber(this.#text(node)) };
      case "StringLiteral":
        return { kind: "string", value: this.#string(node) };
      case "ParenExpr":
        return this.expression(this.#child(node, 0));
      case "VectorSelector":
        return this.#selector(node);
      case "MatrixSelector":
        return this.#range(node);
      case "OffsetExpr":
        return this.#offset(node);
      case "UnaryExpr":
        return this.#unary(node);
      case "AggregateExpr":
        return this.#aggregation(node);
      case "FunctionCall":
        return this.#call(node);
      case "BinaryExpr":
        return this.#binary(node);
      default:
        throw new NotImplementedError(`${constructs[node.name] ?? node.name}: ${this.#text(node)}`);
    }
  }

  #selector(node: SyntaxNode): Selector {
    const name = node.getChild("Identifier");
    const listed = node.getChild("LabelMatchers");
    const matchers = [
      ...(name === null ? [] : [matcher(nameLabel, "=", this.#text(name))]),
      ...(listed === null ? [] : childrenOf(listed).map((each) => this.#matcher(each))),
    ];
    if (name !== null && matchers.filter(({ label }) => label === nameLabel).length > 1)
      throw this.#error(node, `metric name must not be set twice: ${this.#query.slice(name.from, name.to)}`);
    if (matchers.every(matchesNothingness))
      throw this.#error(node, "vector selector must contain at least one non-empty matcher");
    return { kind: "selector", matchers, offsetMs: 0 };
  }

  #matcher(node: SyntaxNode): Matcher {
    if (node.name !== "UnquotedLabelMatcher") throw new NotImplementedError(`quoted label names: ${this.#text(node)}`);
    const [label, op, value] = childrenOf(node).map((child) =>
      child.name === "StringLiteral" ? this.#string(child) : this.#text(child),
    );
    try {
      return matcher(label ?? "", (op ?? "=") as Matcher["op"], value ?? "");
    } catch (error) {
      throw this.#error(node, `error parsing regexp: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #range(node: SyntaxNode): Expression {
    const selector = this.expression(this.#child(node, 0));
    if (selector.kind !== "selector") throw this.#error(node, "ranges only allowed for vector selectors");
    return { kind: "range", selector, rangeMs: this.#duration(this.#child(node, 1)) };
  }

  #offset(node: SyntaxNode): Expression {
    const of = this.expression(this.#child(node, 0));
    const offsetMs = this.#duration(this.#child(node, 2));
    if (of.kind === "selector") return { ...of, offsetMs: of.offsetMs + offsetMs };
    if (of.kind === "range") return { ...of, selector: { ...of.selector, offsetMs: of.selector.offsetMs + offsetMs } };
    throw this.#error(
      node,
      "offset modifier must be preceded by an instant vector selector or range vector selector or a subquery",
    );
  }

  #duration(node: SyntaxNode): number {
    const text = this.#text(node).replace(/\s/g, "");
    const [, sign, rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
    const ms = parsePromDuration(rest);
    if (ms === undefined) throw this.#error(node, `not a valid duration string: ${JSON.stringify(text)}`);
    return sign === "-" ? -ms : ms;
  }

  #unary(node: SyntaxNode): Expression {
    const of = this.expression(this.#child(node, 1));
    const type = typeOf(of);
    if (type !== "scalar" && type !== "vector")
      throw this.#error(
        node,
        `unary expression only allowed on expressions of type scalar or instant vector, got "${typeNames[type]}"`,
      );
    return this.#text(this.#child(node, 0)) === "-" ? { kind: "negation", of } : of;
  }

  #aggregation(node: SyntaxNode): Expression {
    const [opNode, body] = [node.getChild("AggregateOp"), node.getChild("FunctionCallBody")];
    const op = opNode === null ? "" : this.#text(opNode).toLowerCase();
    if (!aggregations.has(op)) throw new NotImplementedError(`aggregation ${op}`);
    const args = body === null ? [] : childrenOf(body).map((child) => this.expression(child));
    const [of] = args;
    if (of === undefined || args.length !== 1)
      throw this.#error(node, `wrong number of arguments for aggregate expression provided, expected 1, got ${args.length}`);
    const type = typeOf(of);
    if (type !== "vector")
      throw this.#error(node, `expected type instant vector in aggregation expression, got ${typeNames[type]}`);
    return { kind: "aggregation", op, of, grouping: this.#grouping(node.getChild("AggregateModifier")) };
  }

  #grouping(node: SyntaxNode | null): Aggregation["grouping"] {
    const labels = node?.getChild("GroupingLabels");
    const names = labels == null ? [] : this.#labelNames(labels);
    return node?.getChild("Without") ? { without: names } : { by: names };
  }

  #labelNames(node: SyntaxNode): readonly string[] {
    return childrenOf(node).map((child) => this.#text(child));
  }

  #call(node: SyntaxNode): Expression {
    const [identifier, body] = childrenOf(node);
    const name = identifier === undefined ? "" : this.#text(identifier);
    const args = body === undefined ? [] : childrenOf(body).map((child) => this.expression(child));
    const at = body === undefined ? [] : childrenOf(body).map(({ from }) => from);
    checkCall(name, args, (message, index) => new ParseError(this.#query, at[index ?? -1] ?? node.from, message));
    return { kind: "call", name, args };
  }

  #binary(node: SyntaxNode): Expression {
    const children = childrenOf(node);
    const [leftNode, opNode, rightNode] = [children[0], children[1], children.at(-1)];
    if (leftNode === undefined || opNode === undefined || rightNode === undefined)
      throw this.#error(node, "unexpected expression");
    const op = this.#text(opNode).toLowerCase();
    if (!operators.has(op)) throw new NotImplementedError(`operator ${op}`);
    const unknown = node.getChild("FillModifier");
    if (unknown !== null) throw new NotImplementedError(this.#text(unknown));
    const [left, right] = [this.expression(leftNode), this.expression(rightNode)];
    const bool = node.getChild("BoolModifier") !== null;
    const matching = this.#matching(node.getChild("MatchingModifierClause"));
    const binary: Binary = { kind: "binary", op, left, right, bool, matching };
    this.#check(node, binary);
    return binary;
  }

  #check(node: SyntaxNode, { op, left, right, bool }: Binary): void {
    const types = [typeOf(left), typeOf(right)];
    if (bool && !comparisons.has(op)) throw this.#error(node, "bool modifier can only be used on comparison operators");
    if (types.some((type) => type !== "scalar" && type !== "vector"))
      throw this.#error(node, "binary expression must contain only scalar and instant vector types");
    if (comparisons.has(op) && !bool && types.every((type) => type === "scalar"))
      throw this.#error(node, "comparisons between scalars must use BOOL modifier");
    if (setOperators.has(op) && types.includes("scalar"))
      throw this.#error(node, `set operator ${JSON.stringify(op)} not allowed in binary scalar expression`);
  }

  #matching(node: SyntaxNode | null): Matching {
    if (node === null) return { labels: { ignoring: [] } };
    const [names = [], include = []] = node.getChildren("GroupingLabels").map((each) => this.#labelNames(each));
    const labels = node.getChild("On") ? { on: names } : { ignoring: names };
    if (node.getChild("GroupLeft")) return { labels, group: { side: "left", include } };
    return node.getChild("GroupRight") ? { labels, group: { side: "right", include } } : { labels };
  }

  #string(node: SyntaxNode): string {
    const text = parseString(this.#text(node));
    if (text === undefined) throw this.#error(node, "unterminated quoted string");
    return text;
  }

  #child(node: SyntaxNode, at: number): SyntaxNode {
    const child = childrenOf(node)[at];
    if (child === undefined) throw this.#error(node, "unexpected end of input");
    return child;
  }

  #text({ from, to }: SyntaxNode): string {
    return this.#query.slice(from, to);
  }

  #error({ from }: SyntaxNode, message: string): ParseError {
    return new ParseError(this.#query, from, message);
  }
}

const aggregations = new Set(["sum", "avg", "min", "max", "count", "group"]);
const comparisons = new Set(["==", "!=", "<", ">", "<=", ">="]);
const setOperators = new Set(["and", "or", "unless"]);
const operators = new Set(["+", "-", "*", "/", "%", ...comparisons, ...setOperators]);

const constructs: Readonly<Record<string, string>> = { SubqueryExpr: "subqueries", StepInvariantExpr: "the @ modifier" };

// Signatures of the supported functions.

const signatures: Readonly<Record<string, readonly ValueType[]>> = {
  ...Object.fromEntries(Object.keys(rangeFunctions).map((name) => [name, ["matrix"]] as const)),
  predict_linear: ["matrix", "scalar"],
  abs: ["vector"],
  absent: ["vector"],
  ceil: ["vector"],
  floor: ["vector"],
  clamp_max: ["vector", "scalar"],
  clamp_min: ["vector", "scalar"],
  label_replace: ["vector", "string", "string", "string", "string"],
  scalar: ["vector"],
  sort: ["vector"],
  sort_desc: ["vector"],
  time: [],
  timestamp: ["vector"],
  vector: ["scalar"],
};

/** @param error creates the error of the whole call, or of one argument */
function checkCall(name: string, args: readonly Expression[], error: (message: string, argument?: number) => ParseError): void {
  const signature = Object.hasOwn(signatures, name) ? signatures[name] : undefined;
  if (signature === undefined) throw new NotImplementedError(`function ${name}()`);
  if (args.length !== signature.length)
    throw error(`expected ${signature.length} argument(s) in call to "${name}", got ${args.length}`);
  for (const [index, wanted] of signature.entries()) {
    const given = args[index] === undefined ? "string" : typeOf(args[index]);
    if (given !== wanted)
      throw error(`expected type ${typeNames[wanted]} in call to function "${name}", got ${typeNames[given]}`, index);
  }
}
