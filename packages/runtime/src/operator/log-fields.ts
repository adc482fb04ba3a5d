// What may stand in a log line. Three nets, each finer than the one before: objects shrink to their names, fields with
// tell-tale names are hidden, and finally anything in the finished line that looks like a credential.
import { keyOf, type ObjectMeta, type ObjectRef } from "../objects/object.ts";

const hidden = "[hidden]";
const tellTale = /^(authorization|password|token|bearer|credentials?|private-?key|client-?secret|tls\.key|ca\.key)$/i;

// A token in a header, a JSON web token anywhere, a private key (in JSON, so its line ends are escaped).
const looksSecret = [
  /\bBearer\s+[\w.~+/=-]{8,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----/gs,
];

// What is nested deeper than this says little in a line; and it may contain itself.
const deepest = 5;

/** The fields of a line as they may be printed. */
export function fieldsForLog(fields: object, withStack: boolean, depth = 0): Record<string, unknown> {
  const shown = (name: string, value: unknown) => {
    if (tellTale.test(name)) return hidden;
    return name === "err" && depth === 0 ? errorForLog(value, withStack) : forLog(value, withStack, depth);
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value)]));
}

/** The line without anything that looks like a credential. */
export function withoutSecrets(line: string): string {
  return looksSecret.reduce((text, pattern) => text.replace(pattern, hidden), line);
}

/** An error in a few fields. Errors with a code are foreseen, so their stack says nothing; a bug's stack says everything. */
function errorForLog(error: unknown, withStack: boolean): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { readonly code?: unknown };
  return {
    type: name,
    ...(code !== undefined && { code }),
    message,
    ...((withStack || code === undefined) && { stack }),
    ...(cause instanceof Error && { cause: errorForLog(cause, withStack) }),
  };
}

function forLog(value: unknown, withStack: boolean, depth: number): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return errorForLog(value, withStack);
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "…";
  if (Array.isArray(value)) return value.map((each) => forLog(each, withStack, depth + 1));
  return nameOf(value) ?? (isPlain(value) ? fieldsForLog(value, withStack, depth + 1) : value);
}

/** The name of an object or of a reference to one; the names of a list of them; undefined for anything else. */
function nameOf(value: object): string | readonly unknown[] | undefined {
  const { metadata, items } = value as { readonly metadata?: object; readonly items?: unknown };
  if (typeof metadata === "object" && metadata !== null) {
    const { namespace, name, generateName } = metadata as ObjectMeta;
    if (Array.isArray(items)) return items.map((item) => nameOf(item ?? {}) ?? "?");
    return keyOf({ name: name ?? generateName ?? "?", ...(namespace !== undefined && { namespace }) });
  }
  const isReference = "name" in value && Object.keys(value).every((key) => key === "name" || key === "namespace");
  return isReference ? keyOf(value as ObjectRef) : undefined;
}

/** Not one that knows how to print itself, like a date. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
