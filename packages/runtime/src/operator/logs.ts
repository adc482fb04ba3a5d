// The logs of an operator, on standard error: JSON lines in a cluster, readable text on a terminal. The verbosity follows the
// conventions of Kubernetes programs:
//
//     -v 0, 1   info, warnings and errors
//     -v 2, 3   debug: what each reconcile did
//     -v 4, 5   trace: details for debugging, stacks of all errors, the API server's own messages
//     -v 6 …    also every call to the API server
//
// Objects in fields are printed as namespace/name, which is shorter and does not leak the contents of Secrets.

import type * as Pino from "pino";
import { ApiError } from "../client/errors.ts";
import type { Clock, Logger } from "../concurrency/environment.ts";
import { keyOf, type ObjectMeta, type ObjectRef } from "../objects/object.ts";
import { printable, withoutCredentials } from "../objects/untrusted-text.ts";

export interface LogOptions {
  /** The operator's name, on every line. */
  readonly name: string;
  /** As in -v N. @default 0 */
  readonly verbosity?: number;
  /** @default "text" on a terminal, else "json" */
  readonly format?: "json" | "text";
  readonly clock: Clock;
  /** Takes finished lines. @default standard error */
  readonly write?: (line: string) => void;
}

/** The methods of pino's logger that the runtime uses. */
export interface OperatorLogger extends Logger {
  trace(fields: object, message: string): void;
  child(fields: object): OperatorLogger;
}

/** The verbosity from which every call to the API server is logged. */
export const verbosityOfCalls = 6;

/** Loaded on demand: an operator with a custom logger saves 10 MiB. */
export const loadPino = () => import("pino");

/** A logger for this process: `makeLogger(options, await loadPino())`. */
export function makeLogger(options: LogOptions, { pino }: typeof Pino): OperatorLogger {
  const { name, verbosity = 0, clock, format = process.stderr.isTTY ? "text" : "json" } = options;
  // Synchronous: a process that exits because it lost its lease must not lose the line that says so.
  const standardError = pino.destination({ dest: 2, sync: true });
  const write = options.write ?? ((line: string) => standardError.write(line));
  const fieldsOf = (fields: object) => fieldsForLog(fields, verbosity >= 4);
  const finish = format === "json" ? (line: string) => line : readableLine;
  const logger = pino(
    {
      level: levelOf(verbosity),
      base: { logger: name },
      messageKey: "msg",
      timestamp: () => `,"ts":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: fieldsOf },
      serializers: { err: (shown: unknown) => shown }, // fieldsForLog has serialized it; this disables pino's serializer
    },
    { write: (line: string) => write(finish(withoutCredentials(line))) },
  );
  return redacting(logger, fieldsOf);
}

/** pino does not apply `formatters.log` to the fields of a child logger, so this does. */
function redacting(logger: Pino.Logger, fieldsOf: (fields: object) => Record<string, unknown>): OperatorLogger {
  const child = logger.child.bind(logger);
  return Object.assign(logger, { child: (fields: object) => redacting(child(fieldsOf(fields)), fieldsOf) });
}

function levelOf(verbosity: number): string {
  if (verbosity >= 4) return "trace";
  return verbosity >= 2 ? "debug" : "info";
}

// Redaction in three steps: objects are reduced to their names, fields with sensitive names are hidden, and finally everything in the
// line that looks like a credential is replaced.

const hidden = "[hidden]";
const sensitiveName = /^(authorization|password|token|bearer|credentials?|private-?key|client-?secret|tls\.key|ca\.key)$/i;

// Limits nesting, also of objects that contain themselves.
const maxDepth = 5;

/** The redacted fields of a line. */
export function fieldsForLog(fields: object, withStack: boolean, depth = 0): Record<string, unknown> {
  const shown = (name: string, value: unknown) => {
    if (sensitiveName.test(name)) return hidden;
    return name === "err" && depth === 0 ? errorForLog(value, withStack) : forLog(value, withStack, depth);
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value)]));
}

/**
 * Serializes an error. Errors with a code are expected, so their stack is omitted; other errors are bugs and keep it. The server's own
 * message is logged from -v 4 on: it can quote the object.
 */
function errorForLog(error: unknown, withStack: boolean): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, stack, cause } = error;
  const message = error instanceof ApiError && !withStack ? error.summary : error.message;
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
  if (depth === maxDepth) return "…";
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

/** False for objects that serialize themselves, like dates. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// A JSON line as readable text:
//
//     10:41:02.123 INFO  became leader  lease=apps/gordon identity=gordon-1
//     10:41:09.007 WARN  could not renew the lease; retrying  lease=apps/gordon
//                  TRANSPORT_FAILED: update Lease apps/gordon: connection refused

/** One line, or a few if there is an error with a stack. */
export function readableLine(json: string): string {
  const { level, ts, logger: _logger, msg = "", err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const time = String(ts).slice(11, 23);
  const words = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const head = `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${words.length > 0 ? `  ${words.join(" ")}` : ""}`;
  return printable(`${[head, ...errorLines(err)].join("\n")}\n`);
}

function errorLines(error: unknown): readonly string[] {
  if (error === undefined) return [];
  const { type, code, message, stack, cause } = error as Record<string, unknown>;
  const lines = stack === undefined ? [`${code ?? type}: ${message}`] : String(stack).split("\n");
  const indented = lines.map((line) => `${" ".repeat(13)}${line}`);
  return [...indented, ...errorLines(cause)];
}

/** Quotes a value only if it would be ambiguous otherwise. */
function plain(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value) ?? "undefined";
}
