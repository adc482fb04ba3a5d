// The controllers of a Kubernetes, on @memhog/runtime: what keeps pods running, puts them on nodes and tidies up after them.
// They speak to the API server through a client and nothing else, so they serve the simulator in memory and a real API
// server that has no controller manager just the same.
//
// As faithful as their users can tell, no more. One file per controller: a pure decision with a table of tests, and a few
// lines that carry it out. Where to look:
//
//     deployments/ replica-sets.ts stateful-sets/ daemon-sets.ts    keep pods running
//     jobs.ts cron-jobs.ts (cron.ts)                                run them to their end, and by the clock
//     scheduler/                                                    finds them a node
//     nodes/                                                        notice when a node is gone, and give its pods up
//     endpoint-slices.ts disruption-budgets.ts quotas.ts            say in status what is so
//     namespaces.ts collection/                                     tidy up
//
// Shared: pods.ts (which count), status.ts (how a status is written), percent.ts ("25%"), template-hash.ts.
import { type Client, type Controller, type Environment, type Logger, operator } from "@memhog/runtime";
import { GarbageCollector } from "./collection/garbage-collector.ts";
import { cronJobs } from "./cron-jobs.ts";
import { daemonSets } from "./daemon-sets.ts";
import { deployments } from "./deployments/deployments.ts";
import { disruptionBudgets } from "./disruption-budgets.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { jobs } from "./jobs.ts";
import { namespaces } from "./namespaces.ts";
import { nodeLifecycle } from "./nodes/node-lifecycle.ts";
import { taintEviction } from "./nodes/taint-eviction.ts";
import { quotas } from "./quotas.ts";
import { replicaSets } from "./replica-sets.ts";
import { scheduler } from "./scheduler/scheduler.ts";
import { statefulSets } from "./stateful-sets/stateful-sets.ts";

export interface ControllersOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly log: Logger;
  /** PEM of the authority behind the API server's certificate, for pods. @default "": it speaks no TLS */
  readonly authority?: string | undefined;
}

/** Controllers at work. */
export interface RunningControllers extends AsyncDisposable {
  /** Lets what is under way finish, and the last events be written: for two seconds at most, on the environment's clock. */
  stop(): Promise<void>;
}

/** Starts all of them. They work from the moment their caches are filled; nothing waits for that here. */
export async function startControllers(options: ControllersOptions): Promise<RunningControllers> {
  const stopping = new AbortController();
  const manager = operator({
    ...options,
    name: "kube-controller-manager",
    controllers: allControllers(options),
    metricsBindAddress: "0",
    healthProbeBindAddress: "0",
    process: nobody,
  });
  const running = manager.run(stopping.signal);
  // Whoever stops us hears of it; until then, the log does.
  running.catch((err: unknown) => options.log.error({ err }, "the controllers could not be started"));
  const collector = new GarbageCollector(options);
  await collector.start();
  const stop = async () => {
    stopping.abort();
    await Promise.all([running, collector.stop()]);
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

function allControllers({ client, authority = "" }: ControllersOptions): readonly Controller[] {
  return [
    namespaces(client, authority),
    replicaSets,
    deployments,
    statefulSets,
    daemonSets,
    jobs,
    cronJobs,
    disruptionBudgets,
    endpointSlices,
    quotas,
    nodeLifecycle,
    taintEviction,
    scheduler(),
  ];
}

/** We are part of somebody's process: its signals and its end are not ours. */
const nobody = { onStop: () => () => {}, onForgotten: () => () => {}, exit: () => {} };
