// The client put together over any transport. Everything interesting is in the files it is made of; see client.ts.
import type { Environment } from "../concurrency/environment.ts";
import { type Call, type Caller, makeCaller } from "./call.ts";
import type { Client, RawRequest } from "./client.ts";
import { makeDiscovery } from "./discovery.ts";
import type { Observer } from "./observer.ts";
import { makeLanes, type RateLimit } from "./rate-limit.ts";
import { findObject, getObject, listEvery, listPage } from "./reads.ts";
import { scanKind } from "./scan/scan.ts";
import type { Transport } from "./transport/transport.ts";
import { pace } from "./watch/pace.ts";
import { followKind, watchKind } from "./watch/watch.ts";
import { applyObject, createObject, deleteObject, patchObject, updateObject } from "./writes.ts";

export interface ClientOptions {
  readonly environment: Environment;
  /** Milliseconds for a call that brings no `timeoutMs`. @default 30 s */
  readonly timeoutMs?: number | undefined;
  /** Calls per second, and how many may come at once. @default 20 and 30, as controller-runtime */
  readonly rateLimit?: RateLimit | undefined;
  /** The same for the lane of Leases and of calls with priority "high". @default 10 and 20 */
  readonly highPriorityRateLimit?: RateLimit | undefined;
  readonly observer?: Observer | undefined;
}

/** A client that speaks through this transport. */
export function clientOver(transport: Transport, options: ClientOptions): Client {
  const { environment, timeoutMs = 30_000, observer = {} } = options;
  const lanes = makeLanes({ ...options, observer });
  const caller = makeCaller({ transport, environment, lanes, observer, timeoutMs });
  const tools = { caller, environment, observer, pause: pace(environment.clock) };
  const close = async () => transport.close?.();
  return {
    ...verbsOf(caller),
    scan: (kind, take, o = {}) => scanKind(kind, take, o, tools),
    watch: (kind, o = {}) => watchKind(kind, o, tools),
    follow: (kind, take, o = {}) => followKind(kind, take, o, tools),
    request: (request) => caller.text(rawCall(request)),
    discovery: makeDiscovery(caller, environment.clock),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The parsed JSON is what the kind says it is; this is where that is believed, and the only place. */
function verbsOf(caller: Caller): Verbs {
  const verbs = {
    get: (...rest: Tail<typeof getObject>) => getObject(caller, ...rest),
    find: (...rest: Tail<typeof findObject>) => findObject(caller, ...rest),
    list: (...rest: Tail<typeof listPage>) => listPage(caller, ...rest),
    listAll: (...rest: Tail<typeof listEvery>) => listEvery(caller, ...rest),
    create: (...rest: Tail<typeof createObject>) => createObject(caller, ...rest),
    update: (...rest: Tail<typeof updateObject>) => updateObject(caller, ...rest),
    patch: (...rest: Tail<typeof patchObject>) => patchObject(caller, ...rest),
    apply: (...rest: Tail<typeof applyObject>) => applyObject(caller, ...rest),
    delete: (...rest: Tail<typeof deleteObject>) => deleteObject(caller, ...rest),
  };
  return verbs as Verbs;
}

type Verbs = Omit<Client, "watch" | "scan" | "follow" | "request" | "discovery" | "close" | typeof Symbol.asyncDispose>;

type Tail<F> = F extends (caller: Caller, ...rest: infer R) => unknown ? R : never;

function rawCall({ method = "GET", path, query, body, headers, ...options }: RawRequest): Call {
  const request = {
    method,
    path,
    ...(query && { query }),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  return { attempt: `${method} ${path}`, request, options };
}
