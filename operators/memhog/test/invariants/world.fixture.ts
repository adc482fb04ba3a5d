// The whole operator on a simulated cluster, in one process and on a manual clock: hours pass in seconds, deterministically.
//
//     await using w = await world();
//     await w.monitor();                                     // johnny-cache
//     await w.pod("hungry", { memory: "ramp 1Mi/s to 500Mi" });
//     w.start();
//     await w.pass(minutes(10));
import { Deployment, installCrds, type Logger, Pod, type Stored } from "@memhog/runtime";
import { createClient } from "@memhog/runtime/client";
import { type Clock, silentLogger } from "@memhog/runtime/concurrency";
import { manualEnvironment, seededRandom } from "@memhog/runtime/testing";
import {
  type FullClusterOptions,
  fullCluster,
  type Middleware,
  makeTrafficFaults,
  randomTrafficFaults,
  serverJournal,
  startSimulator,
  type TrafficFaultShares,
} from "@memhog/simulator";
import { AppMemory } from "../../src/api/app-memory.ts";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import type { Pass } from "../../src/controllers/apps.ts";
import { memhogKinds, memhogOperator } from "../../src/memhog.ts";
import { overTransport, type PrometheusTransport } from "../../src/observe/prometheus/transport.ts";
import { type HogOptions, hogDeployment, hogPod } from "./hogs.fixture.ts";
import { type Death, type Said, Voice } from "./recording-transport.fixture.ts";

export interface WorldOptions {
  readonly seed?: number;
  readonly nodes?: FullClusterOptions["nodes"];
  /** Random faults in the traffic of operators. @default none */
  readonly shares?: TrafficFaultShares;
  /** Milliseconds between two polls of memory. @default 5 s */
  readonly intervalMs?: number;
  /** Milliseconds between two scrapes. @default 5 s */
  readonly scrapeMs?: number;
  /** Record all traffic with the API server, which is a lot of data. @default false */
  readonly journal?: boolean;
}

export interface StartOptions {
  readonly name?: string;
  readonly death?: Death;
  readonly log?: Logger;
  readonly namespaces?: readonly string[];
  /** Prometheus is unreachable for this operator. @default false */
  readonly blind?: boolean;
  /** See MemhogOptions. @default false */
  readonly inPlaceOnly?: boolean;
  /** See MemhogOptions. @default none */
  readonly isExcluded?: (namespace: string) => boolean;
  /** Serves the dashboard at this port of 127.0.0.1. @default not served */
  readonly onDashboard?: (port: number) => void;
}

const unlimited = { qps: 1_000_000, burst: 1_000_000 };
export const minutes = (count: number) => count * 60_000;
export const home = "default";

export async function world(options: WorldOptions = {}) {
  const { seed = 1, nodes = { count: 1 }, shares = {}, journal = false, intervalMs = 5_000, scrapeMs = 5_000 } = options;
  const environment = manualEnvironment({ seed });
  const { clock } = environment;
  const written = serverJournal(clock);
  const faults = makeTrafficFaults({ clock });
  const cluster = fullCluster({ nodes, prometheus: { intervalMs: scrapeMs } });
  const heard: Said[] = [];
  const middleware = [...(journal ? [written.middleware] : []), faults.middleware, listening(heard)];
  const simulator = await startSimulator({ environment, middleware, components: cluster });
  const client = simulator.client({ userAgent: "tester" });
  const installing = installCrds(client, memhogKinds, { clock });
  await clock.advance(1_000);
  await installing;
  const chance = randomTrafficFaults(seededRandom(seed), shares);
  faults.plan = (request) => (request.userAgent.startsWith("memhog-") ? chance(request) : undefined);
  const operators: Running[] = [];
  const passes: Pass[] = [];

  /** Starts an operator with a transport, caches and memory of its own, like a separate process. */
  const start = ({
    name = "memhog-1",
    death,
    log = silentLogger,
    namespaces,
    blind = false,
    inPlaceOnly = false,
    isExcluded,
    onDashboard,
  }: StartOptions = {}): Running => {
    const voice = new Voice(simulator.transport, name);
    voice.death = death;
    const own = createClient({ transport: voice, environment, rateLimit: unlimited, highPriorityRateLimit: unlimited });
    const ending = new AbortController();
    let steps = 0;
    const skewed = { ...environment, clock: { ...bound(clock), now: () => clock.now() + steps } };
    const program = memhogOperator({
      ...{
        client: own,
        environment: skewed,
        log,
        prometheus: blind ? nobody : shortDays(overTransport(cluster.prometheus)),
        intervalMs,
        instance: name,
      },
      ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, memory: "default" as const },
      ...{ inPlaceOnly, ...(isExcluded && { isExcluded }) },
      ...(namespaces && { namespaces }),
      ...(onDashboard && { onDashboard, dashboardBindAddress: "127.0.0.1:0" }),
      process: { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} },
      onPass: (pass) => passes.push(pass),
    });
    // A crashed operator does not shut down gracefully.
    const ended = program.run(ending.signal).catch((error: unknown) => {
      if (!voice.isDead) throw error;
    });
    ended.catch(() => {}); // reported to whoever stops it
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
    /** Advances the clock. */
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

/**
 * A window of a day is answered from the last two minutes: their peak, and 900 times their samples (with some to
 * spare: the ends of two minutes count more than those of a day). So a test of spec.shrink takes minutes instead of days.
 */
function shortDays(real: PrometheusTransport): PrometheusTransport {
  return {
    query: async ({ query = "", ...parameters }, signal) => {
      const answer = await real.query({ ...parameters, query: query.replace("[86400s]", "[120s]") }, signal);
      if (!query.includes("count_over_time") || answer.status !== 200) return answer;
      const chunks: Uint8Array[] = [];
      for await (const chunk of typeof answer.body === "string" ? [Buffer.from(answer.body)] : answer.body) chunks.push(chunk);
      const counts = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      for (const { value } of counts.data.result) value[1] = String(Number(value[1]) * 900);
      return { ...answer, body: JSON.stringify(counts) };
    },
  };
}

const nobody: PrometheusTransport = { query: async () => ({ status: 503, dateMs: undefined, body: "" }) };

/** Records every write of an operator that the server received, whether or not the response arrived. */
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
  /** Only the wall clock of this operator; the rest of the cluster keeps the correct time. */
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
