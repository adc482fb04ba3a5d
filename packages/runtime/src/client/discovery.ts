// API discovery. Check for features here instead of deriving them from the version: a feature can be enabled, disabled or backported.
//
// Responses are cached per group and version for some minutes, because servers are upgraded. A negative result is cached for seconds
// only, because a missing CRD is usually about to be installed.
import { abortable } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import { dynamicKind, groupAndVersion } from "../objects/kinds/kind.ts";
import type { Kind } from "../objects/object.ts";
import type { Caller } from "./call.ts";
import { NotFoundError } from "./errors.ts";
import { objectIn } from "./response.ts";
import { groupVersionPath } from "./verbs.ts";

const keepMs = 300_000;
const keepMissingMs = 5000;

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  /** For example "v1.37.1". */
  readonly gitVersion: string;
}

/** Concurrent callers share one request with the client's default timeout; the signal only stops waiting for it. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Discovery {
  /** Whether the server serves this kind in this version. */
  serves(kind: Kind, options?: AskOptions): Promise<boolean>;
  /** Whether the server serves this subresource of the kind: `hasSubresource(Pod, "resize")`. */
  hasSubresource(kind: Kind, subresource: string, options?: AskOptions): Promise<boolean>;
  /** The kind for an apiVersion and kind ("apps/v1", "Deployment"); undefined if the server does not serve it. */
  kindOf(type: { readonly apiVersion: string; readonly kind: string }, options?: AskOptions): Promise<Kind | undefined>;
  version(options?: AskOptions): Promise<ServerVersion>;
  /** Clears the cache, for example after installing a CRD. */
  forget(): void;
}

/** An entry of a discovery document; a subresource has a name like "pods/resize". */
interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Answer<T> {
  readonly value: Promise<T>;
  /** On the monotonic clock. */
  until: number;
}

export function makeDiscovery(caller: Caller, clock: Clock): Discovery {
  const answers = new Map<string, Answer<unknown>>();

  /** The response for a path. Concurrent callers share one request. Failures are not cached. */
  const ask = <T>(path: string, { signal }: AskOptions): Promise<T | undefined> => {
    const known = answers.get(path);
    if (known !== undefined && clock.monotonic() < known.until) return abortable(known.value as Promise<T | undefined>, signal);
    const value = askServer<T>(caller, path);
    const answer: Answer<T | undefined> = { value, until: clock.monotonic() + keepMs };
    answers.set(path, answer);
    value.then(
      (found) => {
        answer.until = clock.monotonic() + (found === undefined ? keepMissingMs : keepMs);
      },
      () => {
        if (answers.get(path) === answer) answers.delete(path);
      },
    );
    return abortable(value, signal);
  };

  const resources = async (kind: Pick<Kind, "group" | "version">, options: AskOptions): Promise<readonly ApiResource[]> =>
    (await ask<{ readonly resources?: readonly ApiResource[] }>(groupVersionPath(kind), options))?.resources ?? [];

  return {
    serves: async (kind, options = {}) =>
      (await resources(kind, options)).some(({ name, kind: served }) => name === kind.plural && served === kind.kind),
    hasSubresource: async (kind, subresource, options = {}) =>
      (await resources(kind, options)).some(({ name }) => name === `${kind.plural}/${subresource}`),
    kindOf: async ({ apiVersion, kind }, options = {}) => {
      const type = groupAndVersion(apiVersion);
      const found = (await resources(type, options)).find(({ name, kind: served }) => served === kind && !name.includes("/"));
      return found && dynamicKind({ ...type, kind, plural: found.name, namespaced: found.namespaced });
    },
    version: async (options = {}) => versionIn(await ask<RawVersion>("/version", options)),
    forget: () => answers.clear(),
  };
}

async function askServer<T>(caller: Caller, path: string): Promise<T | undefined> {
  const attempt = `discover ${path}`;
  try {
    return objectIn(attempt, await caller.text({ attempt, request: { method: "GET", path }, options: {} })) as T;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

interface RawVersion {
  readonly major?: string;
  readonly minor?: string;
  readonly gitVersion?: string;
}

function versionIn({ major = "", minor = "", gitVersion = "" }: RawVersion = {}): ServerVersion {
  // Some providers return "27+".
  return { major: Number.parseInt(major, 10) || 0, minor: Number.parseInt(minor, 10) || 0, gitVersion };
}
