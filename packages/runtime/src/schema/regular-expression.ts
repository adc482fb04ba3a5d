// The API server matches patterns with Go's engine, which runs in linear time and therefore has no looking around and no
// back-references. Nearly everything else is spelled alike; what is not is translated here or refused.
import { NotStructuralError } from "./errors.ts";
import { mostRepeats } from "./repeats.ts";

/** Things of JavaScript's expressions that Go's engine (RE2) does not have. */
const foreign: readonly (readonly [RegExp, string])[] = [
  [/\(\?(=|!|<=|<!)/, "looking ahead or behind"],
  [/\\[1-9]|\\k</, "a back-reference"],
  [/\[\^?\]/, "an empty class"],
  [/\\c[A-Za-z]/, "a control escape"],
];

/** The same pattern in Go's dialect. */
export function toGoPattern(expression: RegExp, path: string): string {
  const { source, flags } = expression;
  const bare = source.replaceAll("\\\\", "");
  const problem = foreign.find(([sign]) => sign.test(bare));
  if (problem !== undefined)
    throw new NotStructuralError(path, `${problem[1]} in /${source}/`, "rewrite the pattern, or say it in CEL: rule(schema, …)");
  if (mostRepeats(source) > 1_000)
    throw new NotStructuralError(path, `more than 1000 repeats in /${source}/`, "use .max() for the length, and * or + here");
  return `${goFlags(flags)}${source.replace(escapes, inGo)}`;
}

/** Escapes are read one by one: in "\\\\u0041" the backslash is the escaped one. */
const escapes = /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|(.))/gs;

function inGo(whole: string, long: string | undefined, short: string | undefined, other: string | undefined): string {
  if (other === undefined) return `\\x{${long ?? short}}`;
  return other === "/" ? "/" : whole;
}

/** `i`, `m` and `s` are written into the pattern; `u` and `v` are how Go always is; the others do not change what matches. */
function goFlags(flags: string): string {
  const kept = [...flags].filter((flag) => "ims".includes(flag)).join("");
  return kept === "" ? "" : `(?${kept})`;
}
