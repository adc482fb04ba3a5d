// Formats of strings. The API server knows some by name, but not all that it takes under a name zod takes, too: "/etc/passwd" is a
// uri there, and any 32 hexadecimal digits are a uuid. What zod demands beyond the name is said in a pattern, or refused here.
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { toGoPattern } from "./regular-expression.ts";
import type { Place } from "./structural-types.ts";

/** The check of a format, with what some of them can be asked in addition. */
export interface FormatCheck {
  readonly format?: string | undefined;
  readonly pattern?: RegExp | undefined;
  /** Of a URL. */
  readonly protocol?: RegExp;
  /** Of a URL. */
  readonly hostname?: RegExp;
  /** Of a URL: it is rewritten. */
  readonly normalize?: boolean;
  /** Of a time: how many digits a second has behind its point. */
  readonly precision?: number | null;
  /** Of a time: it may do without a zone. */
  readonly local?: boolean;
}

/** Formats that the API server knows by these names. All others are carried by their patterns. */
const formats: Readonly<Record<string, string>> = {
  datetime: "date-time",
  date: "date",
  uuid: "uuid",
  guid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  url: "uri",
  hostname: "hostname",
};

/** Those of them whose pattern says more than the name does: dashes, and which version it is. */
const stricterHere: ReadonlySet<string> = new Set(["uuid", "guid"]);

/**
 * The API server does not look at the type of a list where it knows the format of a string (seen on 1.32 and 1.37): [] would pass
 * for a time. No list is both longer than none and not longer, and strings are not counted.
 */
export const noList = { minItems: 1, maxItems: 0 } as const;

/** What the API server calls it, if it does. */
export function formatOf(checks: readonly FormatCheck[], { path }: Place): string | undefined {
  const [format, ...others] = new Set(checks.flatMap((check) => formats[check.format ?? ""] ?? []));
  if (others.length > 0)
    throw new NotStructuralError(path, `a string of the formats ${[format, ...others].join(" and ")}`, "choose one of them");
  return format;
}

/** What zod checks by more than the pattern of the format. */
const wholePatterns: Readonly<Record<string, RegExp>> = { base64: z.regexes.base64, base64url: z.regexes.base64url };

/** What has to be said in a pattern. */
export function patternOf(check: FormatCheck, { path }: Place): readonly string[] {
  const { format = "" } = check;
  const pattern = wholePatterns[format] ?? check.pattern;
  if (format === "url") return [schemePattern(check, path)];
  if (format === "datetime" && ((check.precision ?? undefined) !== undefined || check.local === true))
    throw new NotStructuralError(path, "a time with a precision of its own, or without a zone", "use .regex() on a z.string()");
  if (formats[format] !== undefined && !stricterHere.has(format)) return [];
  if (pattern === undefined)
    throw new NotStructuralError(path, `the string format ${format}`, "use .regex() with a pattern that says the same");
  return [toGoPattern(pattern, path)];
}

/** A scheme between both ends of a pattern: letters, and groups without groups in them. An `|` outside of a group would split the ends. */
const wholeScheme = /^\^((?:\((?:\?:)?[^()^$\\]+\)|[^()|^$\\])+)\$$/;

/** How a URL has to begin. Schemes are compared without regard to case, as a URL parser does. */
function schemePattern({ protocol, hostname, normalize }: FormatCheck, path: string): string {
  if (hostname !== undefined)
    throw new NotStructuralError(
      path,
      "a URL with demands on its host (z.httpUrl(), hostname)",
      "use z.url({ protocol: /^https?$/ }), and .regex() for more",
    );
  if (normalize === true)
    throw new NotStructuralError(path, "code that changes the value (normalize)", "take the URL as it is written");
  if (protocol === undefined) return "^[A-Za-z][A-Za-z0-9+.-]*:";
  const scheme = wholeScheme.exec(protocol.source)?.[1];
  if (scheme === undefined)
    throw new NotStructuralError(path, `the protocol /${protocol.source}/`, "write it from end to end: /^(https|ftp)$/");
  // zod wants to see the slashes of these two, and of no others.
  const slashes = protocol.source === z.regexes.httpProtocol.source ? "//" : "";
  return toGoPattern(new RegExp(`^${scheme}:${slashes}`, "i"), path);
}
