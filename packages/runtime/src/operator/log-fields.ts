// What may stand in a log line. Three nets, each finer than the one before: objects shrink to their names, fields with
// tell-tale names are hidden, and finally anything in the finished line that looks like a credential.
import { keyOf, type ObjectRef } from "../objects/object.ts";

const hidden = "[hidden]";
const tellTale = /^(authorization|password|token|bearer|credentials?|private-?key|client-?secret|tls\.key|ca\.key)$/i;

// A token in a header, a JSON web token anywhere, a private key (in JSON, so its line ends are escaped).
const looksSecret = [
  /\bBearer\s+[\w.~+/=-]{8,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----/gs,
];

/** The fields of a line as they may be printed. */
export function fieldsForLog(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, tellTale.test(name) ? hidden : forLog(value)]));
}

/** The line without anything that looks like a credential. */
export function withoutSecrets(line: string): string {
  return looksSecret.reduce((text, pattern) => text.replace(pattern, hidden), line);
}

/** An error in a few fields. Errors with a code are foreseen, so their stack says nothing; a bug's stack says everything. */
export function errorForLog(error: unknown, withStack: boolean): object {
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

function forLog(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null || value instanceof Error || Array.isArray(value)) return value;
  const { metadata = value } = value as { readonly metadata?: object };
  const isReference = metadata !== value || Object.keys(value).every((key) => key === "name" || key === "namespace");
  if (isReference && "name" in metadata) return keyOf(metadata as ObjectRef);
  return value;
}
