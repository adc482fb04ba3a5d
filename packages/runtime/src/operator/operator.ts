// The lifecycle of an operator. `run` shows the order of startup and shutdown, and the order matters:
//
//     config → endpoints → CRDs (optional) → caches → webhooks → lease → controllers → … → drain → release the lease → close
//
// The parts: options.ts · connection.ts (client) · start-webhooks.ts · leader-election.ts · events.ts · metrics.ts ·
// endpoints.ts, profiler.ts · logs.ts · run-operator.ts (command line) · process.ts (signals).
import { SharedCaches } from "../cache/cache.ts";
import { abortable, anySignal, timeoutSignal } from "../concurrency/abort.ts";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { kindsOf } from "../controller/controller.ts";
import { OpenCaches } from "../controller/open-caches.ts";
import { ControllerRunner } from "../controller/runner.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { installCrds } from "../schema/install.ts";
import type { Grant } from "../schema/permissions.ts";
import { conversionFor } from "../webhook/configuration.ts";
import { type Connection, connectTo } from "./connection.ts";
import { explainRoute, type HealthCheck, healthRoute, listenAt, loopbackOnly } from "./endpoints.ts";
import { StoppingError } from "./errors.ts";
import { EventRecorder } from "./events.ts";
import { acquireLeadership, type Leadership } from "./leader-election.ts";
import { loadPino, makeLogger } from "./logs.ts";
import { OperatorMetrics } from "./metrics.ts";
import { grantsOf, type OperatorOptions, type ResolvedOptions, type Runnable, resolveOptions } from "./options.ts";
import { addProcessMetrics } from "./process.ts";
import { listenForProfiles } from "./profiler.ts";
import { addressOf, startWebhooks } from "./start-webhooks.ts";

/**
 * Combines controllers, webhooks and runnables into a program.
 *
 *     await operator({ name: "gordon-operator", controllers: [gordons] }).run();
 */
export function operator(options: OperatorOptions): Operator {
  return new Operator(resolveOptions(options));
}

export class Operator {
  /** All permissions it needs; `rolesFor(operator.grants, …)` generates the Roles. */
  readonly grants: readonly Grant[];
  /** The metrics registry; already contains those in the options. */
  readonly metrics = new OperatorMetrics();
  /** Resolves when the caches are synced and the webhooks are served, like /readyz. Rejects if the operator stops earlier. */
  readonly ready: Promise<void>;
  /** The ports it listens on, once it does: useful with port 0. */
  readonly ports: { metrics?: number; health?: number; profiler?: number } = {};
  readonly #options: ResolvedOptions;
  #log: Logger;
  /** The checks of /readyz, by name. */
  readonly #readiness: Record<string, HealthCheck>;
  readonly #isReady = Promise.withResolvers<void>();
  /** Closes resources in reverse order of opening. */
  readonly #closing = new AsyncDisposableStack();
  #runners: readonly ControllerRunner[] = [];
  /** Runnables that have not returned. */
  readonly #running = new Set<Promise<void>>();
  readonly #stopRunnables = new AbortController();
  /** Aborts with the error of a runnable. */
  readonly #failed = new AbortController();
  #stopped: Promise<void> | undefined;

  constructor(options: ResolvedOptions) {
    const { environment } = options;
    this.#options = options;
    this.#readiness = { start: () => "starting", ...options.readyChecks };
    this.#log = options.log ?? silentLogger;
    this.grants = grantsOf(options);
    addProcessMetrics(this.metrics, environment.clock);
    for (const metric of options.metrics) this.metrics.registry.registerMetric(metric);
    this.ready = this.#isReady.promise;
    this.ready.catch(() => {}); // nobody has to await it
  }

  /** Runs until SIGTERM, SIGINT or the signal. Rejects if it cannot start or if a runnable fails. Call it once. */
  async run(signal?: AbortSignal): Promise<void> {
    await using _closing = this.#closing;
    const { name, verbosity, environment, log } = this.#options;
    if (log === undefined) this.#log = makeLogger({ name, verbosity, clock: environment.clock }, await loadPino());
    if (this.#options.memory === "small") this.#options.process.saveMemory?.();
    const stop = this.#stopSignal(signal);
    try {
      await this.#startAndDrain(stop);
    } catch (error) {
      this.#isReady.reject(error);
      if (error !== stop.reason) throw error; // stopped during startup: not an error
    }
    this.#log.info({}, "stopped");
  }

  async #startAndDrain(stop: AbortSignal): Promise<void> {
    const { environment, controllers, webhooks, election } = this.#options;
    const metrics = this.metrics;
    const log = this.#log;

    const connection = this.#closing.use(await connectTo(this.#options, metrics, log));
    const { client, home } = connection;
    const namespaces = this.#options.namespaces === "own" ? [home] : this.#options.namespaces;
    log.info({ namespaces }, "watching");
    const events = this.#recordEvents(connection);
    const caches = new SharedCaches({ client, namespaces, environment, log });
    const dependencies = { client, caches, environment, log, metrics, events };
    this.#runners = controllers.map((each) => new ControllerRunner(each, dependencies));

    // Probes first: a failing check explains more than a closed port.
    await this.#listen();
    await this.#installCrds(connection, stop);

    for (const runner of this.#runners) runner.start();
    this.#closing.defer(() => this.#stopWork(AbortSignal.abort(stop.reason)));
    this.#watchCaches(caches);

    // Webhooks before the caches sync: listing a kind may require our own conversion webhook.
    if (webhooks.length > 0) await this.#serveWebhooks(connection, stop);
    await Promise.all(this.#runners.map((runner) => runner.whenSynced(stop)));
    this.#readiness.start = () => true;
    this.#isReady.resolve();
    log.info({ objects: caches.status().reduce((sum, { objects }) => sum + objects, 0) }, "caches synced");

    const startRunnables = this.#prepareRunnables(connection, caches);
    startRunnables(({ needsLeaderElection = true }) => !needsLeaderElection);
    // Only a replica with synced caches may lead.
    using ending = anySignal([stop, this.#failed.signal]);
    const leadership = election === undefined ? undefined : await this.#lead(connection, ending.signal);
    startRunnables(({ needsLeaderElection = true }) => needsLeaderElection);
    for (const runner of this.#runners) runner.work();

    await firstOf(stop, leadership?.lost, this.#failed.signal);
    if (leadership?.lost.aborted) await this.#abandon(leadership.lost.reason);
    else await this.#drain(leadership);
    this.#failed.signal.throwIfAborted();
  }

  /** Returns a function that starts the selected runnables. The first one that throws stops the operator. */
  #prepareRunnables({ client }: Connection, caches: SharedCaches): (which: (runnable: Runnable) => boolean) => void {
    const { runnables, controllers, environment } = this.#options;
    const open = this.#closing.use(new OpenCaches(this.#options.name));
    if (runnables.length > 0) open.open(controllers.flatMap(kindsOf), caches);
    const { signal } = this.#stopRunnables;
    const start = async (runnable: Runnable) => {
      const log = this.#log.child({ runnable: runnable.name });
      try {
        await runnable.start({ client, cached: open, environment, log, signal });
      } catch (err) {
        if (signal.aborted) return;
        log.error({ err }, "runnable failed; stopping the operator");
        this.#failed.abort(err);
      }
    };
    return (which) => {
      for (const runnable of runnables.filter(which)) {
        const running = start(runnable).finally(() => this.#running.delete(running));
        this.#running.add(running);
      }
    };
  }

  /** Stops taking work, waits for running reconciles until the signal aborts, then aborts them. Only the first call has an effect. */
  #stopWork(signal: AbortSignal): Promise<void> {
    this.#stopRunnables.abort(signal.reason);
    this.#stopped ??= Promise.all([...this.#runners.map((runner) => runner.stop(signal)), ...this.#running]).then(() => {});
    return this.#stopped;
  }

  /** The lease is lost and another replica may already lead: aborts running reconciles and exits within a second. */
  async #abandon(reason: Error): Promise<void> {
    const { environment, process } = this.#options;
    this.#log.error({ err: reason }, "leadership lost; exiting");
    using patience = timeoutSignal({ clock: environment.clock, timeoutMs: 500, what: "abort of reconciles" });
    await abortable(this.#stopWork(AbortSignal.abort(reason)), patience.signal).catch(() => {});
    process.exit(1);
    throw reason; // reached only in tests, where exit returns
  }

  /** Graceful shutdown: stops taking work, finishes running reconciles, and only then releases the lease. */
  async #drain(leadership: Leadership | undefined): Promise<void> {
    const { drainMs, environment, process } = this.#options;
    const { clock } = environment;
    this.#readiness.stop = () => "stopping";
    this.#log.info({ drainMs }, "stopping: waiting for running reconciles");
    const signal = leadership?.lost; // the lease is renewed during the drain, and may be lost
    using patience = timeoutSignal({ clock, timeoutMs: drainMs, signal, what: "drain" });
    using end = timeoutSignal({ clock, timeoutMs: drainMs + 1_000, signal, what: "drain and abort" });
    try {
      await abortable(this.#stopWork(patience.signal), end.signal);
    } catch (err) {
      if (signal?.aborted) return this.#abandon(signal.reason);
      // What did not stop may still write. Keep the lease until it expires, so that no successor runs at the same time.
      this.#log.error({ err }, "reconciles did not stop in time; exiting without releasing the lease");
      process.exit(1);
      throw err; // reached only in tests, where exit returns
    }
    // Only after all work has stopped: a successor may start immediately.
    await leadership?.release();
  }

  #lead({ client, home }: Connection, stop: AbortSignal): Promise<Leadership> {
    const { name, instance, election = {}, environment } = this.#options;
    const { lease = { namespace: home, name }, identity = `${instance}_${environment.uuid()}`, ...timing } = election;
    let leading = false;
    this.metrics.gauge("leader_election_master_status", { name }, () => Number(leading));
    const onChange = (now: boolean) => {
      leading = now;
    };
    return acquireLeadership({ client, lease, identity, environment, log: this.#log, onChange, ...timing }, stop);
  }

  #recordEvents({ client }: Connection): EventRecorder {
    const { name, instance, environment } = this.#options;
    const onOutcome = (outcome: string) => this.metrics.count("operator_events_total", { outcome });
    const events = new EventRecorder({ client, environment, log: this.#log, controller: name, instance, onOutcome });
    this.#closing.defer(async () => {
      using limit = timeoutSignal({ clock: environment.clock, timeoutMs: 2_000, what: "last events" });
      await events.close(limit.signal);
    });
    return events;
  }

  async #listen(): Promise<void> {
    const { metricsBindAddress, healthProbeBindAddress } = this.#options;
    const onError = (err: unknown, path: string) => this.#log.error({ err, path }, "request failed");
    const routes = {
      "/metrics": () => this.metrics.text(),
      "/debug/explain": loopbackOnly(explainRoute(() => this.#runners)),
    };
    const metrics = await listenAt(metricsBindAddress, routes, { onError });
    this.#closing.defer(() => metrics?.close());
    const probes = {
      "/healthz": healthRoute({ ping: () => true, ...this.#options.healthChecks }),
      "/readyz": healthRoute(this.#readiness),
    };
    const health = await listenAt(healthProbeBindAddress, probes, { onError });
    this.#closing.defer(() => health?.close());
    const profiler = await listenForProfiles(this.#options.profilerBindAddress, this.#options.environment.clock, onError);
    this.#closing.defer(() => profiler?.close());
    if (profiler !== undefined) this.ports.profiler = profiler.port;
    if (metrics !== undefined) this.ports.metrics = metrics.port;
    if (health !== undefined) this.ports.health = health.port;
    this.#log.info(this.ports, "listening");
  }

  async #installCrds({ client, home }: Connection, stop: AbortSignal): Promise<void> {
    const { installCrds: resources, webhooks, environment, name } = this.#options;
    if (resources.length === 0) return;
    const install = async (resource: AnyResource) => {
      const conversion = conversionFor(resource, webhooks, addressOf(this.#options, home));
      const options = { clock: environment.clock, fieldManager: name, signal: stop, ...(conversion && { conversion }) };
      await installCrds(client, [resource], options);
    };
    await Promise.all(resources.map(install));
    this.#log.info({ kinds: resources.map(({ kind }) => kind) }, "CRDs installed");
  }

  async #serveWebhooks(connection: Connection, stop: AbortSignal): Promise<void> {
    this.#readiness.webhooks = () => "webhooks not served yet";
    const running = await startWebhooks(this.#options, { connection, metrics: this.metrics, log: this.#log }, stop);
    this.#closing.defer(() => running.close());
    this.#readiness.webhooks = () => true;
  }

  #watchCaches(caches: SharedCaches): void {
    this.#readiness.caches = () => {
      const behind = caches.status().filter(({ state }) => state !== "live");
      const named = behind.map(({ resource, namespace }) => `${resource}${namespace === undefined ? "" : ` in ${namespace}`}`);
      return named.length === 0 || named.map((name) => `${name} not synced`).join(", ");
    };
    for (const [i, { resource, namespace = "" }] of caches.status().entries()) {
      const now = () => caches.status()[i];
      this.metrics.gauge("operator_cache_objects", { resource, namespace }, () => now()?.objects ?? 0);
      this.metrics.gauge(
        "operator_cache_last_event_age_seconds",
        { resource, namespace },
        () => (now()?.lastEventAgeMs ?? 0) / 1000,
      );
    }
  }

  /** Aborts at the first request to stop; the second exits immediately. */
  #stopSignal(given: AbortSignal | undefined): AbortSignal {
    const { process } = this.#options;
    const asked = new AbortController();
    const stop = (why: string) => {
      if (asked.signal.aborted) process.exit(1);
      asked.abort(new StoppingError(`stop requested (${why})`));
    };
    this.#closing.defer(process.onStop(stop));
    this.#closing.defer(process.onUnhandledRejection((err) => this.#log.error({ err }, "unhandled promise rejection")));
    const onAbort = () => stop("by its caller");
    given?.addEventListener("abort", onAbort, { once: true });
    this.#closing.defer(() => given?.removeEventListener("abort", onAbort));
    if (given?.aborted) onAbort();
    return asked.signal;
  }
}

/** Resolves when one of the signals aborts. */
async function firstOf(...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of signals) {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  }
  await promise;
}
