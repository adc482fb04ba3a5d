// Creates a client for the API server of a configuration, or for another transport (the simulator, a recording transport).
//
//     const client = createClient({ config: await loadConfig(), environment: systemEnvironment() });
//     for await (const pod of client.listAll(Pod, { namespace: "default" })) console.log(pod.metadata.name);
import type { Environment } from "../concurrency/environment.ts";
import { type Call, type Caller, makeCaller, makeLanes, type RateLimit } from "./call.ts";
import type { Client, Observer, RawRequest } from "./client.ts";
import type { ConnectionConfig } from "./config/config.ts";
import { makeDiscovery } from "./discovery.ts";
import { scanKind } from "./list-stream.ts";
import { type HttpTransportOptions, httpTransport } from "./transport/http-transport.ts";
import type { Transport } from "./transport/transport.ts";
import {
  applyObject,
  createObject,
  deleteObject,
  findObject,
  getObject,
  listEvery,
  listPage,
  patchObject,
  updateObject,
} from "./verbs.ts";
import { followKind, pace, watchKind } from "./watch.ts";

export interface ClientOptions {
  readonly environment: Environment;
  /** Milliseconds for a call without `timeoutMs`. @default 30 s */
  readonly timeoutMs?: number | undefined;
  /** Calls per second, and the burst. @default 20 and 30, as in controller-runtime */
  readonly rateLimit?: RateLimit | undefined;
  /** The rate limit of Leases and of calls with priority "high". @default 10 and 20 */
  readonly highPriorityRateLimit?: RateLimit | undefined;
  readonly observer?: Observer | undefined;
}

/** The target of requests: the server of a configuration (see `loadConfig`), or a transport. */
export type CreateClientOptions = ClientOptions &
  ((HttpTransportOptions & { readonly config: ConnectionConfig }) | { readonly transport: Transport });

/** Creates a client. It sends nothing before the first call. */
export function createClient(options: CreateClientOptions): Client {
  const transport = "transport" in options ? options.transport : httpTransport(options.config, options);
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

/** The only place that assumes that the parsed JSON has the type of its kind. */
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
