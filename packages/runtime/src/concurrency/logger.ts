// What the runtime says while it runs. The interface is the part of pino that everyone needs, so a pino logger is one;
// which levels are shown, and where, is decided in operator/. Fields first, words second, as pino has it:
//
//     log.warn({ err, watch: "pods" }, "watch broke, resuming");

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** The same logger, with these fields on every line. */
  child(fields: object): Logger;
}

/** Says nothing: for tests, and for parts that were given no logger. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
