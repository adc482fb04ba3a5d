// The functions there are, and what they are called with. Anything else that Prometheus knows is refused by name.
import { NotImplementedError, type ParseError } from "./errors.ts";
import { type Expression, typeNames, typeOf, type ValueType } from "./expression.ts";
import { rangeFunctions } from "./range-functions.ts";

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

/** @param error of the whole call, or of one of its arguments */
export function checkCall(
  name: string,
  args: readonly Expression[],
  error: (message: string, argument?: number) => ParseError,
): void {
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
