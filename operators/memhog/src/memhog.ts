// The operator, put together: one controller for apps, one for the status of AppMonitors, one source of memory. main.ts gives it the
// world it runs in; the demo, the tests and the bench give it theirs.
import {
  type Clock,
  type Controller,
  controller,
  type Operator,
  type OperatorOptions,
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
import { watches } from "./observe/watches.ts";
import { type Pass, type ReconcileContext, reconcile } from "./reconcile.ts";

export interface MemhogOptions {
  readonly prometheus: PrometheusTransport;
  /** Milliseconds between two looks at memory. @default 15 s */
  readonly intervalMs?: number;
  /** Nodes may be read: then their room is a cap. An install with Roles alone may not. @default true */
  readonly nodes?: boolean;
  /** Told about every pass over an app. */
  readonly onPass?: (pass: Pass) => void;
}

/** How many apps are looked at at the same time; what is done at the same time is bounded by decide/plan/pace.ts. */
const concurrency = 4;

export interface Memhog {
  readonly controllers: readonly Controller[];
  readonly memory: MemoryPoller;
}

/** The controllers, for an operator with this clock. */
export function memhogControllers(options: MemhogOptions, clock: Clock): Memhog {
  const { prometheus, intervalMs = 15_000, nodes = true, onPass = () => {} } = options;
  const memory = new MemoryPoller({ transport: prometheus, intervalMs });
  const raises = new RaiseWitness(clock);
  const world = { memory, raises, nodes, report: onPass };
  const apps = controller(
    AppMemory,
    { name: operatorName, watches: watches({ nodes }), sources: [memory.source], may: rightsToAct, concurrency },
    (ref, ctx) => reconcile(ref, ctx as unknown as ReconcileContext, world),
  );
  return { controllers: [apps], memory };
}

/** The whole program, to be `run()`. */
export function memhogOperator(options: MemhogOptions & Partial<OperatorOptions>): Operator {
  const { environment = systemEnvironment() } = options;
  const { controllers } = memhogControllers(options, environment.clock);
  return operator({ rateLimit: { qps: 50, burst: 100 }, ...options, environment, name: operatorName, controllers });
}

export const memhogKinds = [AppMonitor, AppMemory] as const;
