// Assembles the operator: a controller for apps, a controller for the status of AppMonitors, the memory poller and the dashboard.
import {
  controller,
  type Environment,
  type ObjectRef,
  type Operator,
  type OperatorOptions,
  operator,
  systemEnvironment,
} from "@memhog/runtime";
import { AppMemory } from "./api/app-memory.ts";
import { AppMonitor } from "./api/app-monitor.ts";
import { operatorName } from "./api/names.ts";
import { appMonitors } from "./controllers/app-monitors.ts";
import { type Pass, reconcile } from "./controllers/apps.ts";
import { type PodWebhookOptions, podWebhook } from "./controllers/pod-webhook.ts";
import { dashboardRunnable } from "./dashboard/dashboard.ts";
import { History } from "./dashboard/history.ts";
import { writePermissions, writePermissionsInPlace } from "./execute/execute.ts";
import { AppMemoryView } from "./observe/kinds.ts";
import { MemoryPoller } from "./observe/memory-poller.ts";
import { RaiseTimes } from "./observe/pods.ts";
import type { Matcher } from "./observe/prometheus/query.ts";
import type { PrometheusTransport } from "./observe/prometheus/transport.ts";
import { RaisesInProgress } from "./observe/raises-in-progress.ts";
import { hasNewRecord, watches } from "./observe/watches.ts";
import { memhogMetrics } from "./report/metrics.ts";
import { reporter } from "./report/report.ts";

export interface MemhogOptions {
  readonly prometheus: PrometheusTransport;
  /** Milliseconds between two queries of memory usage. @default 15 s */
  readonly intervalMs?: number;
  /** Label matchers added to every query. @default none */
  readonly matchers?: readonly Matcher[];
  /** Read nodes, so that their free memory is a cap. Requires a ClusterRole. @default true */
  readonly nodes?: boolean;
  /** Only resize pods in place: never create, delete or evict pods, never patch owners, and ask for no such permission. @default false */
  readonly inPlaceOnly?: boolean;
  /** Namespaces in which nothing is monitored. @default none */
  readonly isExcluded?: (namespace: string) => boolean;
  /** Address of the dashboard, for example ":8082" or "127.0.0.1:8082"; "0" disables it. @default "0" */
  readonly dashboardBindAddress?: string;
  /** Host names under which browsers reach the dashboard, besides localhost and IP addresses. @default none */
  readonly dashboardAllowedHosts?: readonly string[];
  /** Serve the webhook that gives new pods what their app has learned. Requires `webhookServer` and its registration. @default false */
  readonly podWebhook?: boolean;
  /** Which namespaces and pods the webhook is called for. @default all except kube-system and the namespace of the operator */
  readonly podWebhookOptions?: PodWebhookOptions;
  /** Called with the port once the dashboard listens. */
  readonly onDashboard?: (port: number) => void;
  /** Called after every pass over an app. */
  readonly onPass?: (pass: Pass) => void;
}

/** The kinds that memhog defines. */
export const memhogKinds = [AppMonitor, AppMemory] as const;

/** Concurrent reconciles. The number of concurrent raises is bounded separately, in decide/methods.ts. */
const concurrency = 4;

/** After a failure that says nothing about the app, such as a 503. Longer than a minute is too long for an app that runs out of memory. */
const backoff = { initialMs: 50, maxMs: 60_000, jitter: 0.2 };

export function memhogOperator(options: MemhogOptions & Partial<OperatorOptions>): Operator {
  return operator({ ...options, ...memhogOptions(options), name: operatorName });
}

export function memhogOptions(options: MemhogOptions & Partial<OperatorOptions>) {
  const { environment = systemEnvironment(), metrics: more = [], rateLimit = { qps: 50, burst: 100 } } = options;
  const { controllers, metrics, runnables } = memhogControllers(options, environment);
  const admission = options.podWebhook ? podWebhook(options.nodes ?? true, options.podWebhookOptions) : undefined;
  return {
    ...{ rateLimit, environment, controllers, metrics: [...metrics, ...more] },
    runnables: admission === undefined ? runnables : [...runnables, admission.runnable],
    webhooks: admission === undefined ? [] : [admission.webhook],
  };
}

/** The controllers, the dashboard and their metrics. */
export function memhogControllers(
  options: MemhogOptions,
  environment: Environment,
): Required<Pick<OperatorOptions, "controllers" | "metrics" | "runnables">> {
  const { prometheus, intervalMs = 15_000, nodes = true, onPass, dashboardBindAddress = "0", onDashboard } = options;
  const { dashboardAllowedHosts: allowedHosts = [], matchers = [], inPlaceOnly = false, isExcluded = () => false } = options;
  const { clock } = environment;
  const metrics = memhogMetrics({ clock, newestSampleAgeMs: () => memory.newestAgeMs(), unseenPods: () => memory.unseenPods() });
  const memory = new MemoryPoller({ transport: prometheus, intervalMs, matchers, isExcluded, onQuery: metrics.polled });
  const raises = new RaiseTimes(clock);
  const history = new History();
  const listening = dashboardBindAddress !== "0";
  const reportPass = reporter({ metrics, onPass });
  const report: typeof reportPass = (pass, ctx) => {
    if (listening) history.note(pass.seen, pass.plan);
    reportPass(pass, ctx);
  };
  const forget = (ref: ObjectRef) => {
    history.forget(ref);
    metrics.forget(ref);
  };
  const deps = {
    memory,
    raises,
    inProgress: new RaisesInProgress(),
    nodes,
    inPlaceOnly,
    isExcluded,
    report,
    forget,
    onBroken: metrics.broken,
  };
  const dashboard = dashboardRunnable({
    ...{ address: dashboardBindAddress, allowedHosts, history },
    metrics: () => memory.metrics(),
    unseenPods: () => [...memory.unseenPods().values()].reduce((sum, count) => sum + count, 0),
    ...(onDashboard && { onDashboard }),
  });
  const apps = controller(
    AppMemoryView,
    {
      name: operatorName,
      predicate: hasNewRecord,
      watches: watches({ nodes }),
      sources: [memory.source],
      permissions: inPlaceOnly ? writePermissionsInPlace : writePermissions,
      writesStatus: false, // execute/persist-plan.ts writes the status itself: intent first, as a compare-and-swap
      concurrency,
      backoff,
    },
    (ref, ctx) => reconcile(ref, ctx, deps),
  );
  const controllers = [apps, appMonitors({ memory, isExcluded })];
  return { controllers, metrics: metrics.own, runnables: listening ? [dashboard] : [] };
}
