// The functions of Kubernetes' CEL that CEL itself does not have: what our kinds use and their nearest relatives. A rule with
// any other function is refused when its definition is created (501), never misjudged.
import { Environment } from "@marcbachmann/cel-js";
import { parseQuantity, Quantity, quantityOf } from "@memhog/runtime";
import { goPattern } from "../go-pattern.ts";
import { durationValue } from "./durations.ts";

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

/** What rules are compiled in. Making one takes a while: one is enough for a whole cluster. */
export function celEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn")
    .registerType(quantity, Quantity);
  for (const [signature, handler] of Object.entries({ ...quantities, ...texts, ...lists }))
    environment.registerFunction(signature, handler);
  return environment;
}
