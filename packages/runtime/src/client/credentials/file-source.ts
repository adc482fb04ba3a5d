// A file that is replaced while we run: the kubelet renews the token of a pod every hour or so, cert-manager replaces
// certificates. It is read again when it is asked for and the last look is a minute old, or at once when somebody finds
// that what it said is no longer good.
import { readFile } from "node:fs/promises";
import type { Clock } from "../../concurrency/environment.ts";
import { ConfigError } from "../errors.ts";

/** Tokens are renewed when a fifth of their life is left; the shortest life is ten minutes. */
const lookAgainMs = 60_000;

/** A text that may change. */
export interface TextSource {
  read(): Promise<string>;
  /** What was read is no longer good: look again next time. */
  stale(): void;
}

/** @param foundInstead What is there in place of what should be; undefined: nothing is wrong. */
export function fileSource(
  path: string,
  what: string,
  clock: Clock,
  foundInstead: (text: string) => string | undefined = () => undefined,
): TextSource {
  let known: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<string> | undefined;

  const look = async (): Promise<string> => {
    try {
      const text = await readFile(path, "utf8");
      const instead = foundInstead(text);
      if (instead !== undefined) throw new Error(instead);
      known = text;
    } catch (cause) {
      // A file that is being replaced is missing for a moment, or empty; what was good a minute ago most likely still is.
      if (known === undefined) throw new ConfigError(`expected ${what} in ${path}, found ${(cause as Error).message}`, { cause });
    }
    readAt = clock.monotonic();
    return known;
  };
  return {
    read: () => {
      if (known !== undefined && clock.monotonic() - readAt < lookAgainMs) return Promise.resolve(known);
      pending ??= look().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    stale: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** A text that never changes. */
export function constantSource(text: string): TextSource {
  return { read: () => Promise.resolve(text), stale: () => {} };
}
