// Translates JavaScript patterns for the API server, which matches with Go's engine (RE2). It runs in linear time and has no
// lookaround and no backreferences. Most other syntax is equal; the rest is translated or rejected.
//
// Remaining differences concern rare characters: `.` matches a carriage return in Go, `\s` matches only ASCII space, and a
// character above U+FFFF is one character there and two in JavaScript without the flag u.
import { NotStructuralError } from "./errors.ts";

/** Syntax that RE2 lacks. */
const foreign: readonly (readonly [RegExp, string])[] = [
  [/\(\?(=|!|<=|<!)/, "looking ahead or behind"],
  [/\\[1-9]|\\k</, "a back-reference"],
  [/\[\^?\]/, "an empty class"],
  [/\\c[A-Za-z]/, "a control escape"],
];

/** The pattern in RE2 syntax. @throws NotStructuralError */
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
    // Go reads [:alpha:] as a class; JavaScript reads its characters.
    if (isInClass && text === "[") return "\\[";
    if (text === "[" || text === "]") isInClass = text === "[";
    return text;
  });
  return `${goFlags(flags)}${translated.join("")}`;
}

function refusal(what: string, source: string, path: string): NotStructuralError {
  return new NotStructuralError(path, `${what} in /${source}/`, "rewrite the pattern, or use a CEL rule: rule(schema, …)");
}

function fail(error: Error): never {
  throw error;
}

/** Escapes are read one by one: in "\\\\u0041" the backslash is the escaped one. */
const token = /\\[pP]\{([^}]*)\}|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\s\S]|[\s\S]/gu;

/** Syntax of the flag v: nested classes, intersection and subtraction. */
function setIn(bare: string): string | undefined {
  return /\[[^\]]*(\[|--|&&)|\\q\{/.test(bare.replaceAll(/\\[^q]/g, "")) ? "classes within a class (flag v)" : undefined;
}

/** Names that both engines have: short names of categories, and scripts. */
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
  // JavaScript reads an unknown escape as the letter; in Go it is an error or has a meaning: \a, \A, \z, \Q.
  const rest = text.slice(1);
  const isPlain = rest === "/" || /^\P{ASCII}/u.test(rest) || (/^[A-Za-z]/.test(rest) && !/^[dDwWsSbBnrtfv]$/.test(rest));
  return isPlain ? rest : text;
}

/** `i`, `m` and `s` go into the pattern; Go always matches like `u` and `v`; the others do not affect matching. */
function goFlags(flags: string): string {
  const kept = [...flags].filter((flag) => "ims".includes(flag)).join("");
  return kept === "" ? "" : `(?${kept})`;
}

// Counts repetitions. RE2 expands repetitions and rejects more than 1000 copies, also from nested ones: (a{100}){11}.

/** One thing after another, as far as repeats are concerned. */
const repeatToken = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?::|<\w+>|P<\w+>))?|\)|\{(\d+)(,(\d*))?\}|[\s\S]/g;

/** The highest number of copies of any part of the pattern; `*` and `+` need none. */
export function mostRepeats(source: string): number {
  // For every group that is open: the most copies in it so far. The innermost is last.
  const open = [1];
  // Copies within what a repeat that comes next would repeat.
  let last = 1;
  for (const [text, least, range, most] of source.matchAll(repeatToken)) {
    if (text.startsWith("(")) {
      open.push(1);
      last = 1;
    } else if (text === ")") {
      last = open.pop() ?? 1;
      note(open, last);
    } else if (least !== undefined) {
      const times = Number(range === undefined || most === "" ? least : most);
      last *= Math.max(times, 1);
      note(open, last);
    } else if (!"*+?".includes(text)) last = 1;
  }
  return Math.max(...open, last);
}

function note(open: number[], copies: number): void {
  open[open.length - 1] = Math.max(open.at(-1) ?? 1, copies);
}
