// Starts and stops a simulator: the API server and the components that run beside it.
import { type Client, type Environment, Node } from "@memhog/runtime";
import { type ClientOptions, createClient, type Transport, TransportError } from "@memhog/runtime/client";
import { limitRangeAdmission } from "./admission/limit-ranges.ts";
import { resizeAdmission } from "./admission/resize.ts";
import { quotaAdmission } from "./admission/resource-quotas.ts";
import { webhookAdmission } from "./admission/webhooks.ts";
import { serveCustomResources } from "./custom-resources/custom-resources.ts";
import { builtInKinds } from "./kinds/built-in.ts";
import { KindRegistry } from "./kinds/registry.ts";
import { serveOpenapi } from "./openapi/openapi.ts";
import { makePatching } from "./patch/patching.ts";
import { apiServer, reviewKinds } from "./server/api-server.ts";
import { builtInAdmission } from "./server/built-in-admission.ts";
import type { Handler, Middleware, ServerCore } from "./server/core.ts";
import { type HttpOptions, type HttpServer, kubeconfigFor, startHttp } from "./server/http-server.ts";
import { memoryTransport, seed } from "./server/in-memory.ts";
import { memoryStorage } from "./storage/storage.ts";

export interface SimulatorOptions {
  /** Clock and random numbers: `systemEnvironment()` for interactive use, `manualEnvironment()` for tests that control time. */
  readonly environment: Environment;
  /** Also listens on a port of 127.0.0.1, for kubectl and other clients. @default false */
  readonly http?: boolean | HttpOptions;
  /** Wraps every request, outermost first: faults, journals. @default none */
  readonly middleware?: readonly Middleware[];
  /** Components beside the API server, in start order. @default none */
  readonly components?: Iterable<Component>;
  /** Milliseconds of history for lists and watches at an older resourceVersion. @default 5 minutes */
  readonly historyMs?: number;
}

/** An addition to the API server: controllers, nodes, Prometheus. */
export interface Component {
  readonly name: string;
  /** Called before the first request: adds admission plugins, kinds, routes and subresources. */
  prepare?(core: ServerCore): void;
  /** Starts the component. The returned function stops it. */
  start?(simulator: Simulator): Promise<Stop | undefined> | Stop | undefined;
}

export type Stop = () => void | Promise<void>;

export interface Simulator extends AsyncDisposable {
  readonly environment: Environment;
  /** An in-memory transport to the API server. */
  readonly transport: Transport;
  /** A client with its own rate limit, high enough for tests. */
  client(options?: Partial<ClientOptions> & { readonly userAgent?: string }): Client;
  /** "http://127.0.0.1:PORT", if the option `http` is set. */
  readonly url: string | undefined;
  /** The text of a kubeconfig file for `url`. */
  readonly kubeconfig: string | undefined;
  /** PEM of the certificate authority of `url`, if it uses TLS. */
  readonly authority: string | undefined;
  /** Storage, kinds and admission, for components and tests. */
  readonly core: ServerCore;
  stop(): Promise<void>;
}

/** Requests per second for clients in this process. There is no server to protect. */
const unlimited = { qps: 1_000_000, burst: 1_000_000 };

/**
 * Starts a cluster.
 *
 *     await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
 *     await simulator.client().create(ConfigMap, { metadata: { namespace: "default", name: "hello" } });
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { environment, http = false, middleware = [], historyMs } = options;
  const components = [...(options.components ?? [])];
  const stopping = new AbortController();
  const core = coreOf(environment, historyMs, stopping.signal);
  // Every API server has these: without them a CustomResourceDefinition would never be established.
  serveCustomResources(core);
  // The order of the real API server. Quotas come last, so that they count only admitted objects.
  core.admissions.push(limitRangeAdmission(core), webhookAdmission(core), resizeAdmission(core), quotaAdmission(core));
  serveOpenapi(core);
  for (const component of components) component.prepare?.(core);
  const server = apiServer(core);
  await seed(server);
  // No client can watch from before the start.
  core.storage.compact(core.storage.version);
  await loadAll(clientOf(memoryTransport(server), environment));
  const handler = middleware.reduceRight<Handler>((next, wrap) => wrap(next), server);
  const listening = http === false ? undefined : await startHttp(handler, environment, http === true ? {} : http);
  const simulator = new Running(core, handler, { listening, stopping });
  try {
    for (const component of components) simulator.stops.push(await component.start?.(simulator));
    return simulator;
  } catch (error) {
    await simulator.stop();
    throw error;
  }
}

/**
 * The runtime loads one of its modules on first use. Loading takes real time on any clock, and only in the first run of a process,
 * which would then differ from later runs with the same seed. So the module is loaded here.
 */
async function loadAll(client: Client): Promise<void> {
  await client.scan?.(Node, () => {});
}

function clientOf(transport: Transport, environment: Environment, options: Partial<ClientOptions> = {}): Client {
  return createClient({ transport, environment, rateLimit: unlimited, highPriorityRateLimit: unlimited, ...options });
}

function coreOf(environment: Environment, historyMs: number | undefined, stopped: AbortSignal): ServerCore {
  const storage = memoryStorage({ clock: environment.clock, historyMs });
  const kinds = new KindRegistry([...builtInKinds, ...reviewKinds]);
  const admissions = [...builtInAdmission({ storage, environment })];
  const handlers = { connects: new Map(), routes: new Map(), webhooks: new Map() };
  return { environment, storage, kinds, admissions, patching: makePatching(), ...handlers, stopped };
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

  /** Stops components in reverse order, because later ones depend on earlier ones. */
  async #end(): Promise<void> {
    for (const stop of this.stops.reverse()) await stop?.();
    this.#stopping.abort();
    await this.#http?.stop();
  }
}

/** A stopped server refuses connections: no request is sent. */
function untilStopped(handler: Handler, stopped: AbortSignal): Handler {
  return async (request) => {
    if (stopped.aborted) throw new TransportError("the simulator has stopped", { outcome: "not-sent" });
    return handler(request);
  };
}
