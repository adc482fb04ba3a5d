// The API server matches patterns with Go's engine, which runs in linear time and therefore has no looking around and no
// back-references. Nearly everything else is spelled alike; what is not is translated here or refused.
//
// What is left are characters few people type: `.` is also a carriage return in Go, `\s` no space beyond ASCII's, and a
// character beyond the first 65,536 is one there and two in JavaScript without the flag u.
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
  const problem = foreign.find(([sign]) => sign.test(bare))?.[1] ?? (expression.unicodeSets ? setIn(bare) : undefined);
  if (problem !== undefined) throw refusal(problem, source, path);
  if (mostRepeats(source) > 1_000)
    throw new NotStructuralError(path, `more than 1000 repeats in /${source}/`, "use .max() for the length, and * or + here");
  const inUnicode = expression.unicode || expression.unicodeSets;
  let isInClass = false;
  const translated = [...source.matchAll(token)].map(([text, property]) => {
    if (property !== undefined && inUnicode) return propertyInGo(text, property) ?? fail(refusal(text, source, path));
    if (text.startsWith("\\")) return escapeInGo(text, { isInClass, inUnicode });
    // A class within a class to Go, [:alpha:], and two characters among others to JavaScript.
    if (isInClass && text === "[") return "\\[";
    if (text === "[" || text === "]") isInClass = text === "[";
    return text;
  });
  return `${goFlags(flags)}${translated.join("")}`;
}

function refusal(what: string, source: string, path: string): NotStructuralError {
  return new NotStructuralError(path, `${what} in /${source}/`, "rewrite the pattern, or say it in CEL: rule(schema, …)");
}

function fail(error: Error): never {
  throw error;
}

/** Escapes are read one by one: in "\\\\u0041" the backslash is the escaped one. */
const token = /\\[pP]\{([^}]*)\}|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\s\S]|[\s\S]/gu;

/** What the flag v brings: classes within classes, and what is in both or in one of them only. */
function setIn(bare: string): string | undefined {
  return /\[[^\]]*(\[|--|&&)|\\q\{/.test(bare.replaceAll(/\\[^q]/g, "")) ? "classes within a class (flag v)" : undefined;
}

/** Names that both know: categories by their short names, and scripts. */
function propertyInGo(text: string, property: string): string | undefined {
  const script = /^(?:Script|sc)=([A-Z][A-Za-z_]+)$/.exec(property)?.[1];
  if (script !== undefined) return `${text.slice(0, 2)}{${script}}`;
  return /^(C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/.test(property) ? text : undefined;
}

function escapeInGo(text: string, { isInClass, inUnicode }: { isInClass: boolean; inUnicode: boolean }): string {
  const code = /^\\u\{?([0-9a-fA-F]+)\}?$/.exec(text)?.[1];
  if (code !== undefined && (inUnicode || !text.includes("{"))) return `\\x{${code}}`;
  if (text.startsWith("\\x") && text.length > 2) return text;
  if (text === "\\b" && isInClass) return "\\x08";
  if (text === "\\0") return "\\x00";
  // JavaScript takes a letter that means nothing for itself; in Go it is an error, or means something: \a, \A, \z, \Q.
  const rest = text.slice(1);
  const isPlain = rest === "/" || /^\P{ASCII}/u.test(rest) || (/^[A-Za-z]/.test(rest) && !/^[dDwWsSbBnrtfv]$/.test(rest));
  return isPlain ? rest : text;
}

/** `i`, `m` and `s` are written into the pattern; `u` and `v` are how Go always is; the others do not change what matches. */
function goFlags(flags: string): string {
  const kept = [...flags].filter((flag) => "ims".includes(flag)).join("");
  return kept === "" ? "" : `(?${kept})`;
}
