// An operator that only looks: what it has seen last of each app is there for tests.
import { controller, done } from "@memhog/runtime";
import { type OperatorUnderTest, startOperator } from "@memhog/runtime/testing";
import { AppMemory } from "../api/app-memory.ts";
import type { ObservedApp } from "../model/observed-app.ts";
import { MemoryPoller } from "./memory-poller.ts";
import { observe } from "./observe.ts";
import { RaiseTimes } from "./pods.ts";
import type { PrometheusTransport } from "./prometheus/transport.ts";
import { watches } from "./watches.ts";

export interface LookingOptions {
  readonly kubeconfig: string;
  readonly namespaces: readonly string[];
  readonly prometheus: PrometheusTransport;
}

export interface Looking extends OperatorUnderTest {
  /** The app with this kind and name in the first namespace: `seen("deployment-web")`. */
  seen(name: string): ObservedApp | undefined;
}

export async function looking({ kubeconfig, namespaces, prometheus }: LookingOptions): Promise<Looking> {
  const all = new Map<string, ObservedApp | undefined>();
  const memory = new MemoryPoller({ transport: prometheus, intervalMs: 5_000 });
  const controllers = [
    controller(AppMemory, { name: "looking", watches: watches({ nodes: true }), sources: [memory.source] }, async (ref, ctx) => {
      const world = { memory, raises: new RaiseTimes(ctx.clock), nodes: true };
      all.set(`${ref.namespace}/${ref.name}`, await observe(ref, ctx, world));
      return done();
    }),
  ];
  const running = await startOperator({ name: "looking", controllers, kubeconfig, namespaces, leaderElection: false });
  return { ...running, seen: (name) => all.get(`${namespaces[0]}/${name}`) };
}
