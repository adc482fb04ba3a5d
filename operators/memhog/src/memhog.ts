// The operator, put together: one controller for apps, one for the status of AppMonitors, one source of memory, one page. main.ts
// gives it the world it runs in; the demo, the tests and the bench give it theirs.
import {
  type Controller,
  controller,
  type Environment,
  type Operator,
  type OperatorOptions,
  type OwnMetric,
  operator,
  systemEnvironment,
} from "@memhog/runtime";
import { rightsToAct } from "./act/rights.ts";
import { AppMemory } from "./api/app-memory.ts";
import { AppMonitor } from "./api/app-monitor.ts";
import { operatorName } from "./api/names.ts";
import { MemoryPoller } from "./observe/memory-poller.ts";
import type { PrometheusTransport } from "./observe/prometheus/transport.ts";
import { RaiseWitness } from "./observe/raise-witness.ts";
import { UnderWay } from "./observe/under-way.ts";
import { knowsOther, watches } from "./observe/watches.ts";
import { History } from "./page/history.ts";
import { pageSource } from "./page/page-source.ts";
import { type Pass, reconcile } from "./reconcile.ts";
import { appMonitors } from "./report/app-monitors.ts";
import { memhogMetrics } from "./report/metrics.ts";
import { reporter } from "./report/report.ts";

export interface MemhogOptions {
  readonly prometheus: PrometheusTransport;
  /** Milliseconds between two looks at memory. @default 15 s */
  readonly intervalMs?: number;
  /** Nodes may be read: then their room is a cap. An install with Roles alone may not. @default true */
  readonly nodes?: boolean;
  /** Where the page is served: ":8082", "127.0.0.1:8082"; "0" for nowhere. @default "0" */
  readonly pageBindAddress?: string;
  /** The page listens at this port. */
  readonly onPage?: (port: number) => void;
  /** Told about every pass over an app. */
  readonly onPass?: (pass: Pass) => void;
}

/** The kinds it brings. */
export const memhogKinds = [AppMonitor, AppMemory] as const;

/** How many apps are looked at at the same time; what is done at the same time is bounded by decide/plan/pace.ts. */
const concurrency = 4;

/** The whole program, to be `run()`. */
export function memhogOperator(options: MemhogOptions & Partial<OperatorOptions>): Operator {
  const { environment = systemEnvironment(), metrics: more = [] } = options;
  const { controllers, metrics } = memhogControllers(options, environment);
  const own = { environment, name: operatorName, controllers, metrics: [...metrics, ...more] };
  return operator({ rateLimit: { qps: 50, burst: 100 }, ...options, ...own });
}

/** The controllers alone, and what they count: what they may do is what the operator may. */
export function memhogControllers(
  options: MemhogOptions,
  environment: Environment,
): { readonly controllers: readonly Controller[]; readonly metrics: readonly OwnMetric[] } {
  const { prometheus, intervalMs = 15_000, nodes = true, onPass, pageBindAddress = "0", onPage } = options;
  const { clock } = environment;
  const metrics = memhogMetrics({ clock, newestSampleAgeMs: () => memory.newestAgeMs() });
  const memory = new MemoryPoller({ transport: prometheus, intervalMs, onQuery: metrics.polled });
  const raises = new RaiseWitness(clock);
  const history = new History();
  const listening = pageBindAddress !== "0";
  const tellEveryone = reporter({ metrics, onPass });
  const report: typeof tellEveryone = (pass, ctx) => {
    if (listening) history.note(pass.seen, pass.plan);
    tellEveryone(pass, ctx);
  };
  const world = { memory, raises, underWay: new UnderWay(), nodes, report, onBroken: metrics.broken };
  const page = pageSource({ address: pageBindAddress, history, metrics: () => memory.metrics(), ...(onPage && { onPage }) });
  const apps = controller(
    AppMemory,
    {
      name: operatorName,
      when: knowsOther,
      watches: watches({ nodes }),
      sources: [memory.source, ...(listening ? [page] : [])],
      may: rightsToAct,
      reports: false, // act/remember.ts writes the status itself: intent first, as a compare-and-swap
      concurrency,
    },
    (ref, ctx) => reconcile(ref, ctx, world),
  );
  return { controllers: [apps, appMonitors({ metrics: () => memory.metrics() })], metrics: metrics.own };
}
