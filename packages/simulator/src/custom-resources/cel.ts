// CEL: compiles rules, converts JSON to CEL values, and adds the Kubernetes functions that the CEL library lacks.
import { Environment, evaluate } from "@marcbachmann/cel-js";
import { parseQuantity } from "@memhog/runtime";
import { parseDuration, Quantity, quantityOf } from "@memhog/runtime/objects";
import { isObject, type JsonObject } from "../json.ts";
import { unknownFields } from "./cel-rules.ts";
import { goPattern } from "./schema-errors.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

export interface Program {
  /** Whether the rule uses oldSelf, which makes it a transition rule. */
  readonly usesOldSelf: boolean;
  /** @throws EvaluationFailure */
  run(variables: { readonly self: unknown; readonly oldSelf?: unknown }): unknown;
}

/** A rule could not be evaluated. The message has the format of cel-go. */
export class EvaluationFailure extends Error {
  readonly code = "CEL_EVALUATION_FAILED";
  override readonly name = "EvaluationFailure";
  readonly isOverload: boolean;
  constructor(message: string, isOverload: boolean) {
    super(message);
    this.isOverload = isOverload;
  }
}

/** A rule is not valid CEL, or uses a function that the simulator does not implement. */
export class CompilationFailure extends Error {
  readonly code = "CEL_COMPILATION_FAILED";
  override readonly name = "CompilationFailure";
  /** The rule may be valid on a real API server. */
  readonly isMissingFunction: boolean;
  constructor(message: string, isMissingFunction: boolean) {
    super(message);
    this.isMissingFunction = isMissingFunction;
  }
}

/** The fields of the library's errors. */
interface CelError extends Error {
  readonly code: string;
  readonly summary: string;
}

/** The type of `self` in a rule. */
export interface Typing {
  readonly schema: StructuralSchema;
  /** Whether `self` is the whole object. */
  readonly isRoot: boolean;
}

/** @throws CompilationFailure */
export function compile(source: string, environment: Environment, { schema, isRoot }: Typing): Program {
  const text = withOurFunctions(source);
  const { valid, error } = environment.check(text);
  if (!valid) {
    const { code, summary } = error as CelError;
    throw new CompilationFailure(summary, code === "no_matching_overload");
  }
  const missing = unknownFields(environment.parse(source).ast, schema, isRoot);
  if (missing !== undefined) throw new CompilationFailure(missing, false);
  const program = environment.parse(text);
  return {
    usesOldSelf: outsideQuotes(source).some((part) => /(?<![\w.])oldSelf\b/.test(part)),
    run: (variables) => {
      try {
        return program(variables as never);
      } catch (error) {
        throw asEvaluationFailure(error as CelError);
      }
    },
  };
}

const literal = /[rbRB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/g;

function outsideQuotes(source: string): readonly string[] {
  return source.split(literal);
}

/** The library's `matches` and `duration` follow JavaScript instead of Go and cannot be replaced, so ours have other names. */
function withOurFunctions(source: string): string {
  const quoted = source.match(literal) ?? [];
  const renamed = outsideQuotes(source).map((part) =>
    part.replace(/\bmatches(?=\s*\()/g, "goMatches").replace(/(?<![\w.])duration(?=\s*\()/g, "goDuration"),
  );
  return renamed.map((part, at) => part + (quoted[at] ?? "")).join("");
}

function asEvaluationFailure({ code, summary, message }: CelError): EvaluationFailure {
  const text = summary ?? message;
  if (code === "no_such_key") return new EvaluationFailure(text.replace(/^No such key: /, "no such key: "), false);
  if (code === "no_such_overload" || code === "no_matching_overload" || code === "invalid_logical_operand")
    return new EvaluationFailure("no such overload", true);
  const index = /index (-?\d+)/.exec(text)?.[1];
  if (code === "index_out_of_bounds") return new EvaluationFailure(`index out of bounds: ${index}`, false);
  return new EvaluationFailure(text, false);
}

// The Kubernetes functions that the CEL library lacks. The server rejects a definition whose rules use any other function (501).

type Handler = (...args: never[]) => unknown;

const quantity = "kubernetes.Quantity";

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

const asQuantity = (value: Quantity | bigint) => (typeof value === "bigint" ? quantityOf(value, "DecimalSI") : value);

const quantities: Readonly<Record<string, Handler>> = {
  "isQuantity(string): bool": isQuantity,
  [`quantity(string): ${quantity}`]: (text: string) => parseQuantity(text),
  [`${quantity}.compareTo(${quantity}): int`]: (a: Quantity, b: Quantity) => BigInt(a.compare(b)),
  [`${quantity}.isGreaterThan(${quantity}): bool`]: (a: Quantity, b: Quantity) => a.compare(b) > 0,
  [`${quantity}.isLessThan(${quantity}): bool`]: (a: Quantity, b: Quantity) => a.compare(b) < 0,
  [`${quantity}.sign(): int`]: (a: Quantity) => BigInt(a.sign),
  [`${quantity}.add(${quantity}): ${quantity}`]: (a: Quantity, b: Quantity) => a.add(b),
  [`${quantity}.add(int): ${quantity}`]: (a: Quantity, b: bigint) => a.add(asQuantity(b)),
  [`${quantity}.sub(${quantity}): ${quantity}`]: (a: Quantity, b: Quantity) => a.sub(b),
  [`${quantity}.sub(int): ${quantity}`]: (a: Quantity, b: bigint) => a.sub(asQuantity(b)),
  [`${quantity}.isInteger(): bool`]: (a: Quantity) => a.equals(quantityOf(a.value())),
  [`${quantity}.asInteger(): int`]: (a: Quantity) => a.value(),
  [`${quantity}.asApproximateFloat(): double`]: (a: Quantity) => a.toNumber(),
};

const texts: Readonly<Record<string, Handler>> = {
  "string.goMatches(string): bool": (text: string, pattern: string) => goPattern(pattern).test(text),
  "goMatches(string, string): bool": (text: string, pattern: string) => goPattern(pattern).test(text),
  "string.find(string): string": (text: string, pattern: string) => goPattern(pattern).exec(text)?.[0] ?? "",
  "string.findAll(string): list<string>": (text: string, pattern: string) => allOf(text, pattern),
  "string.findAll(string, int): list<string>": (text: string, pattern: string, max: bigint) =>
    max < 0n ? allOf(text, pattern) : allOf(text, pattern).slice(0, Number(max)),
  "string.replace(string, string): string": (text: string, from: string, to: string) => text.replaceAll(from, () => to),
  "string.charAt(int): string": (text: string, at: bigint) => text.charAt(Number(at)),
  "goDuration(string): google.protobuf.Duration": (text: string) => durationValue(text),
};

function allOf(text: string, pattern: string): readonly string[] {
  const { source, flags } = goPattern(pattern);
  return [...text.matchAll(new RegExp(source, `${flags}g`))].map(([found]) => found);
}

type Scalar = bigint | number | string;

const smaller = (a: Scalar, b: Scalar) => a < b;

function extreme(list: readonly Scalar[], isBetter: (a: Scalar, b: Scalar) => boolean, name: string): Scalar {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, each) => (isBetter(each, best) ? each : best), first);
}

const lists: Readonly<Record<string, Handler>> = {
  "list.isSorted(): bool": (list: readonly Scalar[]) =>
    list.every((each, at) => at === 0 || !smaller(each, list[at - 1] ?? each)),
  "list.sum(): dyn": (list: readonly Scalar[]) =>
    typeof list[0] === "number"
      ? list.reduce((sum: number, each) => sum + Number(each), 0)
      : list.reduce((sum: bigint, each) => sum + BigInt(each), 0n),
  "list.min(): dyn": (list: readonly Scalar[]) => extreme(list, smaller, "min"),
  "list.max(): dyn": (list: readonly Scalar[]) => extreme(list, (a, b) => smaller(b, a), "max"),
  "list.indexOf(dyn): int": (list: readonly Scalar[], item: Scalar) => BigInt(list.indexOf(item)),
  "list.lastIndexOf(dyn): int": (list: readonly Scalar[], item: Scalar) => BigInt(list.lastIndexOf(item)),
};

/** Creates the environment for compiling rules. Creation is slow, so a cluster uses only one. */
export function celEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn")
    .registerType(quantity, Quantity);
  for (const [signature, handler] of Object.entries({ ...quantities, ...texts, ...lists }))
    environment.registerFunction(signature, handler);
  return environment;
}

// Converts JSON to CEL values by schema. An integer is an int (a bigint here) only if the schema says so, a string with a time
// format is a timestamp, and field names that are not CEL identifiers are escaped.

/** Returns the value of `self` or `oldSelf`. For the whole object, metadata contains only the name, as on the real server. */
export function celValue(value: unknown, schema: StructuralSchema | undefined, isRoot = false): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return numberValue(value, schema);
  if (typeof value === "string") return textValue(value, schema);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  return isObject(value) ? objectValue(value, schema, isRoot) : value;
}

function numberValue(value: number, schema: StructuralSchema | undefined): unknown {
  const isInteger = schema?.type === "integer" || (schema?.type !== "number" && Number.isInteger(value));
  return isInteger && Number.isInteger(value) ? BigInt(value) : value;
}

function textValue(text: string, schema: StructuralSchema | undefined): unknown {
  if (schema?.type !== "string") return text;
  if (schema.format === "date-time" || schema.format === "date") return new Date(text);
  if (schema.format === "duration") return durationValue(text);
  return schema.format === "byte" ? Buffer.from(text, "base64") : text;
}

function objectValue(object: JsonObject, schema: StructuralSchema | undefined, isRoot: boolean): JsonObject {
  const isMap = schema?.properties === undefined;
  const fields = Object.entries(object).filter(([, value]) => value !== undefined);
  const known = isMap ? fields : fields.filter(([name]) => schema.properties?.[name] !== undefined);
  const seen = known.map(([name, value]) => [isMap ? name : escaped(name), celValue(value, fieldSchema(schema, name))] as const);
  const isResource = isRoot || schema?.["x-kubernetes-embedded-resource"] === true;
  return Object.fromEntries(isResource ? [...seen, ...resourceFields(object)] : seen);
}

function resourceFields({ apiVersion, kind, metadata }: JsonObject): readonly (readonly [string, unknown])[] {
  const { name, generateName } = isObject(metadata) ? metadata : {};
  const shown = { ...(name !== undefined && { name }), ...(generateName !== undefined && { generateName }) };
  return [
    ["apiVersion", apiVersion ?? ""],
    ["kind", kind ?? ""],
    ["metadata", shown],
  ];
}

const words = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return".split(" "),
);

/** Escapes a field name as Kubernetes does: "storage-size" → "storage__dash__size". */
export function escaped(name: string): string {
  const spelled = name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return words.has(spelled) ? `__${spelled}__` : spelled;
}

// Durations in Go's format. The CEL library does not export its duration type, so evaluating an expression creates the value.

/** @throws DurationError */
function durationValue(text: string): unknown {
  const total = BigInt(Math.round(parseDuration(text) * 1e6));
  const length = total < 0n ? -total : total;
  const fraction = String(length % 1_000_000_000n).padStart(9, "0");
  return evaluate("duration(text)", { text: `${total < 0n ? "-" : ""}${length / 1_000_000_000n}.${fraction}s` });
}
