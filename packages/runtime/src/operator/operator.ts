// An operator, from start to end. Read `run` from top to bottom: it is the order in which things come up, and the order in
// which they go down, and both matter.
//
//     config → endpoints → CRDs (if asked) → caches → webhooks → lease → controllers → … → drain → lease → the rest
//
// The parts: options.ts what it can be told · connection.ts the client · team.ts caches and controllers · start-webhooks.ts ·
// leader-election.ts · events.ts · metrics.ts · endpoints.ts, health.ts, explain-route.ts · logs.ts · flags.ts for a main ·
// process-hooks.ts signals and the end.
import { abortable, timeoutSignal } from "../concurrency/abort.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { Grant } from "../schema/access.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { installCrds } from "../schema/install.ts";
import { conversionFor } from "../webhook/configuration.ts";
import { type Connection, connectTo } from "./connection.ts";
import { listenAt, onlyFromHere } from "./endpoints.ts";
import { StoppingError } from "./errors.ts";
import { EventRecorder } from "./events.ts";
import { explainRoute } from "./explain-route.ts";
import { grantsOf } from "./grants.ts";
import { type HealthCheck, healthRoute } from "./health.ts";
import { acquireLeadership, type Leadership } from "./leader-election.ts";
import { makeLogger } from "./logs.ts";
import { OperatorMetrics } from "./metrics.ts";
import { type OperatorOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { addressOf, startWebhooks } from "./start-webhooks.ts";
import { Team } from "./team.ts";

/**
 * Puts controllers and webhooks together into a program.
 *
 *     await operator({ name: "gordon-operator", controllers: [gordons] }).run();
 */
export function operator(options: OperatorOptions): Operator {
  return new Operator(resolveOptions(options));
}

export class Operator {
  /** Everything it may do; `rolesFor(operator.grants, …)` prints the Roles. */
  readonly grants: readonly Grant[];
  /** For metrics of one's own; those in the options are there already. */
  readonly metrics = new OperatorMetrics();
  /** Resolves when caches are synced and webhooks served: what /readyz says. Rejects if it ends before. */
  readonly ready: Promise<void>;
  /** The ports it listens at, once it does: for those who asked for any free one. */
  readonly ports: { metrics?: number; health?: number } = {};
  readonly #options: ResolvedOptions;
  readonly #log: Logger;
  /** What is still missing before we are ready. */
  readonly #readiness: Record<string, HealthCheck> = { start: () => "still starting" };
  readonly #isReady = Promise.withResolvers<void>();
  /** Closes what was opened, last first. */
  readonly #closing = new AsyncDisposableStack();

  constructor(options: ResolvedOptions) {
    const { name, verbosity, environment } = options;
    this.#options = options;
    this.#log = options.log ?? makeLogger({ name, verbosity, clock: environment.clock });
    this.grants = grantsOf(options);
    addProcessMetrics(this.metrics, environment.clock);
    for (const metric of options.metrics) this.metrics.registry.registerMetric(metric);
    this.ready = this.#isReady.promise;
    this.ready.catch(() => {}); // whoever does not wait for it does not have to hear that it failed
  }

  /** Runs until the process is asked to stop, or the signal aborts. Rejects only if it could not start. Once only. */
  async run(signal?: AbortSignal): Promise<void> {
    await using _closing = this.#closing;
    if (this.#options.memory === "small") this.#options.process.saveMemory?.();
    const stop = this.#whenAskedToStop(signal);
    try {
      await this.#startWorkAndStop(stop);
    } catch (error) {
      this.#isReady.reject(error);
      if (error !== stop.reason) throw error; // asked to stop before it came to work: in order
    }
    this.#log.info({}, "stopped");
  }

  async #startWorkAndStop(stop: AbortSignal): Promise<void> {
    const { environment, controllers, webhooks, election } = this.#options;
    const metrics = this.metrics;
    const log = this.#log;

    const connection = this.#closing.use(await connectTo(this.#options, metrics, log));
    const { client, home } = connection;
    const namespaces = this.#options.namespaces === "own" ? [home] : this.#options.namespaces;
    log.info({ namespaces }, "watching");
    const events = this.#recordEvents(connection);
    const team = new Team({ controllers, client, namespaces, environment, log, metrics, events });

    // Probes first: "not ready, because …" tells more than a port that is closed.
    await this.#listen(team);
    await this.#installCrds(connection, stop);

    team.start();
    this.#closing.defer(() => team.stop(AbortSignal.abort(stop.reason)));
    this.#watchCaches(team);

    // Webhooks before the caches are awaited: listing a kind may need our own conversion.
    if (webhooks.length > 0) await this.#serveWebhooks(connection, stop);
    await team.whenSynced(stop);
    this.#readiness.start = () => true;
    this.#isReady.resolve();
    log.info({ objects: team.caches.status().reduce((sum, { objects }) => sum + objects, 0) }, "caches synced");

    // Only who can see may lead.
    const leadership = election === undefined ? undefined : await this.#lead(connection, stop);
    team.work();

    await firstOf(stop, leadership?.lost);
    if (leadership?.lost.aborted) await this.#abandon(team, leadership.lost.reason);
    else await this.#drain(team, leadership);
  }

  /** The lease is gone: somebody else may be at work already. What is in flight is aborted, and we leave within a second. */
  async #abandon(team: Team, reason: Error): Promise<void> {
    const { environment, process } = this.#options;
    this.#log.error({ err: reason }, "no longer the leader; leaving at once");
    using patience = timeoutSignal({ clock: environment.clock, timeoutMs: 500, what: "abort of reconciles" });
    await abortable(team.stop(AbortSignal.abort(reason)), patience.signal).catch(() => {}); // they had their chance
    process.exit(1);
    throw reason; // where exit is only pretended
  }

  /** Asked to stop: take no more work, finish what is under way, and only then let a successor in. */
  async #drain(team: Team, leadership: Leadership | undefined): Promise<void> {
    const { drainMs, environment, process } = this.#options;
    const { clock } = environment;
    this.#readiness.stop = () => "stopping";
    this.#log.info({ drainMs }, "stopping: finishing what is under way");
    const signal = leadership?.lost; // which may still happen: renewing goes on while we drain
    using patience = timeoutSignal({ clock, timeoutMs: drainMs, signal, what: "drain" });
    using end = timeoutSignal({ clock, timeoutMs: drainMs + 1_000, signal, what: "drain, and the abort after it" });
    try {
      await abortable(team.stop(patience.signal), end.signal);
    } catch (err) {
      if (signal?.aborted) return this.#abandon(team, signal.reason);
      // Whatever it is that does not end may still be at work. The lease is kept until it runs out: no successor may meet it.
      this.#log.error({ err }, "something did not stop when told to; leaving without giving up the lease");
      process.exit(1);
      throw err; // where exit is only pretended
    }
    // Stop taking work before giving up the lease: a successor may begin the moment we let go.
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

  async #listen(team: Team): Promise<void> {
    const { metricsBindAddress, healthProbeBindAddress } = this.#options;
    const metrics = await listenAt(metricsBindAddress, {
      "/metrics": () => this.metrics.text(),
      "/debug/explain": onlyFromHere(explainRoute(() => team.runners)),
    });
    this.#closing.defer(() => metrics?.close());
    const health = await listenAt(healthProbeBindAddress, {
      "/healthz": healthRoute({ ping: () => true }),
      "/readyz": healthRoute(this.#readiness),
    });
    this.#closing.defer(() => health?.close());
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
    this.#log.info({ kinds: resources.map(({ kind }) => kind) }, "definitions installed");
  }

  async #serveWebhooks(connection: Connection, stop: AbortSignal): Promise<void> {
    this.#readiness.webhooks = () => "webhooks not served yet";
    const running = await startWebhooks(this.#options, { connection, metrics: this.metrics, log: this.#log }, stop);
    this.#closing.defer(() => running.close());
    this.#readiness.webhooks = () => true;
  }

  #watchCaches(team: Team): void {
    this.#readiness.caches = () => team.synced;
    for (const [i, { resource, namespace = "" }] of team.caches.status().entries()) {
      const now = () => team.caches.status()[i];
      this.metrics.gauge("operator_cache_objects", { resource, namespace }, () => now()?.objects ?? 0);
      this.metrics.gauge(
        "operator_cache_last_event_age_seconds",
        { resource, namespace },
        () => (now()?.lastEventAgeMs ?? 0) / 1000,
      );
    }
  }

  /** The first request to stop is granted in order, the second at once. */
  #whenAskedToStop(given: AbortSignal | undefined): AbortSignal {
    const { process } = this.#options;
    const asked = new AbortController();
    const stop = (why: string) => {
      if (asked.signal.aborted) process.exit(1);
      asked.abort(new StoppingError(`asked to stop (${why})`));
    };
    this.#closing.defer(process.onStop(stop));
    this.#closing.defer(process.onForgotten((err) => this.#log.error({ err }, "a promise was rejected and nobody cared")));
    const onAbort = () => stop("by the program");
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
