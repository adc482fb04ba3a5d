// What a cache says in the log while it cannot be filled. The first failure of a series is worth a warning; the rest would only
// repeat it.
import { ForbiddenError, NotFoundError } from "../client/errors.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { Kind } from "../objects/object.ts";

export class Complaints {
  readonly #kind: Kind;
  readonly #log: Logger;
  /** That watches stay mute has been said, and none has told anything since. */
  #muteSaid = false;

  constructor(kind: Kind, log: Logger) {
    this.#kind = kind;
    this.#log = log;
  }

  /** @param failures In a row, this one included. */
  failed(err: unknown, { delayMs, failures }: { readonly delayMs: number; readonly failures: number }): void {
    const fields = { err, delayMs: Math.round(delayMs), failures };
    if (failures === 1) this.#log.warn(fields, `${whatIsMissing(this.#kind, err)} trying again`);
    else this.#log.debug(fields, "watch ended badly again, trying again");
  }

  stayedMute(err: unknown): void {
    const level = this.#muteSaid ? "debug" : "warn";
    this.#log[level]({ err }, "watch was accepted and stayed mute: listing instead, until one tells something");
    this.#muteSaid = true;
  }

  /** A watch has told something. */
  told(): void {
    this.#muteSaid = false;
  }
}

/** Most first starts that fail do so for one of two reasons, and the server's own words ("404 page not found") name neither. */
function whatIsMissing(kind: Kind, error: unknown): string {
  const what = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  if (error instanceof NotFoundError)
    return `the API server serves no ${what} in ${kind.version}: its CRD is missing, or has other versions;`;
  if (error instanceof ForbiddenError) return `${what} may not be read: the Role of whoever we are does not say so;`;
  return "watch ended badly,";
}
