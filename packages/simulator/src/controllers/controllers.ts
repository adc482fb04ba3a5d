// The controllers of Kubernetes, written with @memhog/runtime. They use only a client, so they also serve a real API server that
// has no controller manager. Each is a pure decision with a table of tests, and a few lines that apply it.
//
//     deployments/ replica-sets.ts stateful-sets/ daemon-sets.ts    keep pods running
//     jobs.ts cron-jobs.ts (cron.ts)                                run pods to completion, on a schedule
//     scheduler/                                                    assigns pods to nodes
//     storage.ts                                                    binds and provisions volumes
//     node-lifecycle.ts                                             taints lost nodes and evicts their pods
//     endpoint-slices.ts disruption-budgets.ts quotas.ts            report status
//     namespaces.ts garbage-collector.ts                            clean up
//
// Shared: workload.ts (pods, statuses, revisions), adoption.ts (which pods belong to which owner), served-kinds.ts.
import { type Client, type Controller, type Environment, type Logger, operator } from "@memhog/runtime";
import { cronJobs } from "./cron-jobs.ts";
import { daemonSets } from "./daemon-sets.ts";
import { deployments } from "./deployments/deployments.ts";
import { disruptionBudgets } from "./disruption-budgets.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { jobs } from "./jobs.ts";
import { namespaces } from "./namespaces.ts";
import { nodeLifecycle, taintEviction } from "./node-lifecycle.ts";
import { quotas } from "./quotas.ts";
import { replicaSets } from "./replica-sets.ts";
import { scheduler } from "./scheduler/scheduler.ts";
import { statefulSets } from "./stateful-sets/stateful-sets.ts";
import { claimBinder, claimProtection, volumePhases } from "./storage.ts";

interface ControllersOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly log: Logger;
  /** PEM of the certificate authority of the API server, for pods. @default "": no TLS */
  readonly authority?: string | undefined;
}

/** Running controllers. */
interface RunningControllers extends AsyncDisposable {
  /** Finishes running reconciles and writes the last events, for at most two seconds of the environment's clock. */
  stop(): Promise<void>;
}

/** Starts all controllers without waiting for their caches to sync. */
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
  // Errors are logged until stop() reports them.
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
    claimBinder,
    claimProtection,
    volumePhases,
    nodeLifecycle,
    taintEviction,
    scheduler(),
  ];
}

/** The controllers run in another program's process and must not handle its signals or exit. */
const nobody = { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} };
