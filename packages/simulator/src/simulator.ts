// Puts the parts together and takes them apart again.
import {
  type Client,
  type ClientOptions,
  clientOver,
  type Environment,
  Node,
  type Transport,
  TransportError,
} from "@memhog/runtime";
import { builtInKinds } from "./kinds/built-in.ts";
import { KindRegistry } from "./kinds/registry.ts";
import { makePatching } from "./patch/patching.ts";
import { apiServer } from "./server/api-server.ts";
import { builtInAdmission } from "./server/built-in-admission/built-in-admission.ts";
import type { ServerCore } from "./server/core.ts";
import type { Handler, Middleware } from "./server/handler.ts";
import { type HttpOptions, type HttpServer, startHttp } from "./server/http-server.ts";
import { kubeconfigFor } from "./server/kubeconfig.ts";
import { memoryTransport } from "./server/memory-transport.ts";
import { reviewKinds } from "./server/reviews.ts";
import { seed } from "./server/seed.ts";
import { memoryStorage } from "./storage/storage.ts";

export interface SimulatorOptions {
  /** Time and chance: `systemEnvironment()` for people, `manualEnvironment()` for tests that own time. */
  readonly environment: Environment;
  /** Also answer at a port of 127.0.0.1, for kubectl and the like. @default false */
  readonly http?: boolean | HttpOptions;
  /** Around every request, from outside to inside: faults, journals. @default none */
  readonly middleware?: readonly Middleware[];
  /** What runs beside the API server, started in this order. @default none */
  readonly parts?: Iterable<SimulatorPart>;
  /** Milliseconds for which lists and watches can go on from the past. @default 5 minutes */
  readonly historyMs?: number;
}

/** Something that makes more of an API server: controllers, nodes, Prometheus. */
export interface SimulatorPart {
  readonly name: string;
  /** Before the server answers its first request: adds admission, kinds, routes, doors. */
  prepare?(core: ServerCore): void;
  /** Starts working through the client; what it gives back stops it. */
  start?(simulator: Simulator): Promise<Stop | undefined> | Stop | undefined;
}

export type Stop = () => void | Promise<void>;

export interface Simulator extends AsyncDisposable {
  readonly environment: Environment;
  /** The API server, answered in memory. */
  readonly transport: Transport;
  /** A client of it, with a budget of its own that nobody exhausts by accident. */
  client(options?: Partial<ClientOptions> & { readonly userAgent?: string }): Client;
  /** "http://127.0.0.1:PORT", if `http` was asked for. */
  readonly url: string | undefined;
  /** The text of a kubeconfig file for `url`. */
  readonly kubeconfig: string | undefined;
  /** PEM of the authority behind the certificate of `url`, if it speaks TLS. */
  readonly authority: string | undefined;
  /** What is inside, for parts and for tests that look behind the curtain. */
  readonly core: ServerCore;
  stop(): Promise<void>;
}

/** Calls per second that a client in this process may make: there is no server to protect. */
const unlimited = { qps: 1_000_000, burst: 1_000_000 };

/**
 * Starts a cluster.
 *
 *     await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
 *     await simulator.client().create(ConfigMap, { metadata: { namespace: "default", name: "hello" } });
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { environment, http = false, middleware = [], historyMs } = options;
  const parts = [...(options.parts ?? [])];
  const stopping = new AbortController();
  const core = coreOf(environment, historyMs, stopping.signal);
  for (const part of parts) part.prepare?.(core);
  const server = apiServer(core);
  await seed(server);
  // Nobody was there to see how it came to be.
  core.storage.compact(core.storage.version);
  await loadAll(clientOf(memoryTransport(server), environment));
  const handler = middleware.reduceRight<Handler>((next, wrap) => wrap(next), server);
  const listening = http === false ? undefined : await startHttp(handler, environment, http === true ? {} : http);
  const simulator = new Running(core, handler, { listening, stopping });
  try {
    for (const part of parts) simulator.stops.push(await part.start?.(simulator));
    return simulator;
  } catch (error) {
    await simulator.stop();
    throw error;
  }
}

/**
 * The runtime loads a part of itself when it is first used. Loading takes real time, on any clock, and only in the first run of
 * a process: that run would then differ from the others of its seed. So it is used once before anything counts.
 */
async function loadAll(client: Client): Promise<void> {
  await client.scan?.(Node, () => {}, { knownFieldsOnly: true });
}

function clientOf(transport: Transport, environment: Environment, options: Partial<ClientOptions> = {}): Client {
  return clientOver(transport, { environment, rateLimit: unlimited, highPriorityRateLimit: unlimited, ...options });
}

function coreOf(environment: Environment, historyMs: number | undefined, stopped: AbortSignal): ServerCore {
  const storage = memoryStorage({ clock: environment.clock, historyMs });
  const kinds = new KindRegistry([...builtInKinds, ...reviewKinds]);
  const admissions = [...builtInAdmission({ storage, environment })];
  const doors = { connects: new Map(), routes: new Map() };
  return { environment, storage, kinds, admissions, patching: makePatching(), ...doors, stopped };
}

class Running implements Simulator {
  readonly core: ServerCore;
  readonly transport: Transport;
  readonly stops: (Stop | undefined)[] = [];
  readonly #handler: Handler;
  readonly #http: HttpServer | undefined;
  readonly #stopping: AbortController;
  #stopped: Promise<void> | undefined;

  constructor(
    core: ServerCore,
    handler: Handler,
    ends: { readonly listening: HttpServer | undefined; readonly stopping: AbortController },
  ) {
    this.core = core;
    this.#handler = untilStopped(handler, core.stopped);
    this.transport = memoryTransport(this.#handler);
    this.#http = ends.listening;
    this.#stopping = ends.stopping;
  }

  get environment(): Environment {
    return this.core.environment;
  }

  get url(): string | undefined {
    return this.#http?.url;
  }

  get kubeconfig(): string | undefined {
    return this.#http === undefined ? undefined : kubeconfigFor(this.#http.url, this.#http.authority);
  }

  get authority(): string | undefined {
    return this.#http?.authority;
  }

  client({ userAgent, ...options }: Partial<ClientOptions> & { readonly userAgent?: string } = {}): Client {
    const transport = userAgent === undefined ? this.transport : memoryTransport(this.#handler, { userAgent });
    return clientOf(transport, this.core.environment, options);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** What was started last stops first: it may need the others until then. */
  async #end(): Promise<void> {
    for (const stop of this.stops.reverse()) await stop?.();
    this.#stopping.abort();
    await this.#http?.stop();
  }
}

/** A server that has stopped is not there: nothing was sent. */
function untilStopped(handler: Handler, stopped: AbortSignal): Handler {
  return async (request) => {
    if (stopped.aborted) throw new TransportError("the simulator has stopped", { outcome: "not-sent" });
    return handler(request);
  };
}
