// The whole operator on a whole cluster, in one process and on a clock that tests move: hours in seconds, the same way each time.
//
//     await using w = await world();
//     await w.monitor();                                     // johnny-cache
//     await w.pod("hungry", { memory: "ramp 1Mi/s to 500Mi" });
//     w.start();
//     await w.pass(minutes(10));
import { type Clock, clientOver, Deployment, installCrds, type Logger, Pod, type Stored, silentLogger } from "@memhog/runtime";
import { manualEnvironment, seededRandom } from "@memhog/runtime/testing";
import {
  type FaultShares,
  type Middleware,
  makeFaults,
  randomFaults,
  serverJournal,
  startSimulator,
  type WholeClusterOptions,
  wholeCluster,
} from "@memhog/simulator";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { memhogKinds, memhogOperator } from "../memhog.ts";
import { overTransport, type PrometheusTransport } from "../observe/prometheus/transport.ts";
import type { Pass } from "../reconcile.ts";
import { type HogOptions, hogDeployment, hogPod } from "./hogs.fixture.ts";
import { type Death, type Said, Voice } from "./voice.fixture.ts";

export interface WorldOptions {
  readonly seed?: number;
  readonly nodes?: WholeClusterOptions["nodes"];
  /** Chance spoils the traffic of operators. @default it does not */
  readonly shares?: FaultShares;
  /** Milliseconds between two looks at memory. @default 5 s */
  readonly intervalMs?: number;
  /** Milliseconds between two scrapes. @default 5 s */
  readonly scrapeMs?: number;
  /** Write down everything that is said to the API server. @default false: it is a lot */
  readonly journal?: boolean;
}

export interface StartOptions {
  readonly name?: string;
  readonly death?: Death;
  readonly log?: Logger;
  readonly namespaces?: readonly string[];
  /** It does not reach Prometheus. @default false */
  readonly blind?: boolean;
}

const unlimited = { qps: 1_000_000, burst: 1_000_000 };
export const minutes = (count: number) => count * 60_000;
export const home = "default";

export async function world(options: WorldOptions = {}) {
  const { seed = 1, nodes = { count: 1 }, shares = {}, journal = false, intervalMs = 5_000, scrapeMs = 5_000 } = options;
  const environment = manualEnvironment({ seed });
  const { clock } = environment;
  const written = serverJournal(clock);
  const faults = makeFaults({ clock });
  const cluster = wholeCluster({ nodes, prometheus: { intervalMs: scrapeMs } });
  const heard: Said[] = [];
  const middleware = [...(journal ? [written.middleware] : []), faults.middleware, listening(heard)];
  const simulator = await startSimulator({ environment, middleware, parts: cluster });
  const client = simulator.client({ userAgent: "tester" });
  const installing = installCrds(client, memhogKinds, { clock });
  await clock.advance(1_000);
  await installing;
  const chance = randomFaults(seededRandom(seed), shares);
  faults.plan = (request) => (request.userAgent.startsWith("memhog-") ? chance(request) : undefined);
  const operators: Running[] = [];
  const passes: Pass[] = [];

  /** An operator as a process of its own: its own voice, its own caches, its own memory. */
  const start = ({ name = "memhog-1", death, log = silentLogger, namespaces, blind = false }: StartOptions = {}): Running => {
    const voice = new Voice(simulator.transport, name);
    voice.death = death;
    const own = clientOver(voice, { environment, rateLimit: unlimited, highPriorityRateLimit: unlimited });
    const ending = new AbortController();
    let steps = 0;
    const skewed = { ...environment, clock: { ...bound(clock), now: () => clock.now() + steps } };
    const program = memhogOperator({
      ...{
        client: own,
        environment: skewed,
        log,
        prometheus: blind ? nobody : overTransport(cluster.prometheus),
        intervalMs,
        instance: name,
      },
      ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, memory: "as Node likes" as const },
      ...(namespaces && { namespaces }),
      process: { onStop: () => () => {}, onForgotten: () => () => {}, exit: () => {} },
      onPass: (pass) => passes.push(pass),
    });
    // One that was killed does not end in order.
    const ended = program.run(ending.signal).catch((error: unknown) => {
      if (!voice.isDead) throw error;
    });
    ended.catch(() => {}); // told to whoever stops it
    const running: Running = {
      ...{ voice, program },
      stepWallClock: (ms) => {
        steps += ms;
      },
      stop: () => {
        ending.abort();
        return timePassesUntil(ended);
      },
    };
    operators.push(running);
    return running;
  };

  const close = async () => {
    for (const one of operators) await one.stop();
    await timePassesUntil(simulator.stop());
  };
  const timePassesUntil = async (end: Promise<unknown>): Promise<void> => {
    let over = false;
    const done = () => {
      over = true;
    };
    end.then(done, done);
    for (await clock.advance(0); !over; ) await clock.advance(1_000);
    await end;
  };

  return {
    ...{ environment, clock, cluster, simulator, client, faults, passes, heard, start, journal: written.lines },
    /** Time passes. */
    pass: (milliseconds: number) => clock.advance(milliseconds),
    monitor: (spec: object = {}, { namespace = home, name = "johnny-cache" } = {}) =>
      client.apply(
        AppMonitor,
        { metadata: { namespace, name }, spec: { memThresholdPercent: 75, memMultiplier: 2, ...spec } as AppMonitor["spec"] },
        { fieldManager: "tester", force: true },
      ),
    pod: (name: string, options: HogOptions = {}) => client.create(Pod, hogPod(name, options)),
    deployment: (name: string, options: HogOptions & { readonly replicas?: number } = {}) =>
      client.create(Deployment, hogDeployment(name, options)),
    pods: async (namespace = home): Promise<readonly Stored<Pod>[]> => (await client.list(Pod, { namespace })).items,
    memory: (name: string, namespace = home) => client.find(AppMemory, { namespace, name }),
    [Symbol.asyncDispose]: close,
  };
}

const nobody: PrometheusTransport = { query: async () => ({ status: 503, dateMs: undefined, body: "" }) };

/** Writes down every write of an operator that the server got, whether or not its answer arrived. */
function listening(heard: Said[]): Middleware {
  return (next) => async (request) => {
    const response = await next(request);
    const { method, path, body = "", headers = {} } = request;
    const isOurs = headers["user-agent"]?.startsWith("memhog-") && headers["user-agent"] !== "memhog-runtime";
    if (method !== "GET" && isOurs) heard.push({ method, path, body, status: response.status });
    return response;
  };
}

export interface Running {
  readonly voice: Voice;
  readonly program: ReturnType<typeof memhogOperator>;
  /** Its own wall clock, that is: the rest of the cluster has the right time. */
  stepWallClock(milliseconds: number): void;
  stop(): Promise<void>;
}

function bound(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, callback) => clock.after(ms, callback),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

export type World = Awaited<ReturnType<typeof world>>;
