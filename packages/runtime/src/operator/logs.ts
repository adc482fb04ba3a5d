// What an operator says while it runs: one line per event, JSON for machines in a cluster, readable on a terminal, both on
// standard error. How much is said follows -v, with the meanings Kubernetes programs give to the numbers:
//
//     -v 0, 1   info, warnings and errors
//     -v 2, 3   debug: what each reconcile did
//     -v 4, 5   trace: details for whoever hunts a bug, stacks of all errors
//     -v 6 …    and every call to the API server
//
// Objects in fields are printed as namespace/name: shorter, and what is inside them (Secrets!) is nobody's business here.
import { createRequire } from "node:module";
import type * as Pino from "pino";
import type { Clock } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { fieldsForLog, withoutSecrets } from "./log-fields.ts";
import { readableLine } from "./log-lines.ts";

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

/** pino's logger, as far as it is needed. */
export interface OperatorLogger extends Logger {
  trace(fields: object, message: string): void;
  child(fields: object): OperatorLogger;
}

/** The verbosity from which every call to the API server is logged. */
export const verbosityOfCalls = 6;

const require = createRequire(import.meta.url);

/** A logger for this process. Make one, in `main`, and pass it down. */
export function makeLogger(options: LogOptions): OperatorLogger {
  const { name, verbosity = 0, clock, format = process.stderr.isTTY ? "text" : "json" } = options;
  // Loaded here and not above: who brings a logger of their own need not pay for this one (10 MiB).
  const { pino } = require("pino") as typeof Pino;
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
      serializers: { err: (shown: unknown) => shown }, // it is in order already; pino's own would say it in its way
    },
    { write: (line: string) => write(finish(withoutSecrets(line))) },
  );
  return careful(logger, fieldsOf);
}

/** pino prints the fields of a child as they are; they need the same care as those of a line. */
function careful(logger: Pino.Logger, fieldsOf: (fields: object) => Record<string, unknown>): OperatorLogger {
  const child = logger.child.bind(logger);
  return Object.assign(logger, { child: (fields: object) => careful(child(fieldsOf(fields)), fieldsOf) });
}

function levelOf(verbosity: number): string {
  if (verbosity >= 4) return "trace";
  return verbosity >= 2 ? "debug" : "info";
}
