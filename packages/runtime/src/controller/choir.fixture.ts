// For tests on a cluster: a kind with children, its controller, and an environment for both. A choir has singers; a singer is a
// ConfigMap, so that no node is needed.
import { testCluster } from "@memhog/simulator/testing";
import { z } from "zod";
import { SharedCaches } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import { Journal } from "../client/journal.ts";
import { httpTransport } from "../client/transport/http-transport.ts";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { type ObjectOf, refOf, type Stored } from "../objects/object.ts";
import { condition } from "../schema/conditions.ts";
import { defineResource } from "../schema/define-resource.ts";
import { installCrds } from "../schema/install.ts";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import { startFaultProxy } from "../testing/fault-proxy.ts";
import { child } from "./children.ts";
import type { ObjectEvent } from "./context.ts";
import type { Controller } from "./controller.ts";
import { controller } from "./controller.ts";
import { noMetrics } from "./metrics.ts";
import { done } from "./outcome.ts";
import { ControllerRunner } from "./runner.ts";

export const Choir = defineResource({
  group: "runtime-test.example.com",
  version: "v1",
  kind: "Choir",
  spec: z.object({ singers: z.int().min(0).max(20), song: z.string().max(100).default("la") }),
  status: z.object({ singers: z.int(), step: z.int().optional(), encore: z.string().max(100).optional() }),
  conditions: { Ready: { True: ["Complete"], False: ["SingersMissing", "Stuck"] } },
});
export type Choir = ObjectOf<typeof Choir>;

/** The desired singers of a choir. */
export function singersOf({ metadata, spec }: Stored<Choir>) {
  return Array.from({ length: spec.singers }, (_, index) =>
    child(ConfigMap, { metadata: { name: `${metadata.name}-${index}` }, data: { song: spec.song } }),
  );
}

function reportOf({ spec }: Stored<Choir>, present: number) {
  const reason = present === spec.singers ? "Complete" : "SingersMissing";
  return { singers: present, conditions: [condition(Choir, "Ready", reason, `${present} of ${spec.singers} singers`)] };
}

/** Keeps the singers of every choir. @param resyncMs see ControllerOptions */
export function choirs({ resyncMs = 0 }: { resyncMs?: number } = {}): Controller {
  const onTerminalError = ({ message }: Error, { spec }: Stored<Choir>) => ({
    singers: spec.singers,
    conditions: [condition(Choir, "Ready", "Stuck", message.slice(0, 1_000))],
  });
  return controller(Choir, { owns: [ConfigMap], resyncMs, onTerminalError }, async (ref, ctx) => {
    const choir = ctx.get(Choir, ref);
    if (choir === undefined || choir.metadata.deletionTimestamp !== undefined) return done();
    if (choir.spec.song === "poison") throw new Error("this choir cannot be looked at");
    await ctx.applyChildren(choir, singersOf(choir), { prune: [ConfigMap] });
    await ctx.setStatus(choir, reportOf(choir, ctx.list(ConfigMap, { ownedBy: choir }).length));
    return done();
  });
}

const timing = {
  idleMs: 3_000,
  answerMs: 1_000,
  quietTimeoutSeconds: 2,
  toleranceMs: 1_000,
  overdueMs: 2_000,
  backoff: { initialMs: 50, maxMs: 500 },
};

/** A running controller, with its logs and calls. */
export interface Performance extends AsyncDisposable {
  readonly runner: ControllerRunner;
  readonly journal: Journal;
  readonly errors: readonly string[];
  readonly events: readonly ObjectEvent[];
  stop(): Promise<void>;
}

/** The part of a cluster that `stage` needs. */
interface SomeCluster extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly defaultNamespace: string;
}

/** A namespace with the kind in it, a proxy in front of the server, and a client of the test's own. */
export async function stage() {
  return stageOn(await testCluster());
}

/** The same on a given cluster. */
export async function stageOn<C extends SomeCluster>(cluster: C) {
  const client = await clientOf(cluster);
  await installCrds(client, [Choir], { clock: quick.environment.clock });
  const namespace = cluster.defaultNamespace;
  const config = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const proxy = await startFaultProxy(httpTransport(config, quick), quick.environment);
  const performances: Performance[] = [];

  /** Starts a controller with its own client and caches, as a separate process would. */
  const perform = (controller: Controller, kubeconfig?: string): Promise<Performance> =>
    startPerformance(controller, namespace, kubeconfig ?? proxy.config).then((performance) => {
      performances.push(performance);
      return performance;
    });
  const close = async () => {
    for (const performance of performances) await performance.stop();
    await proxy.close();
    await client.close();
    await cluster[Symbol.asyncDispose]();
  };
  return { cluster, client, namespace, proxy, perform, ...helpers(client, namespace), [Symbol.asyncDispose]: close };
}

async function startPerformance(
  controller: Controller,
  namespace: string,
  to: string | Awaited<ReturnType<typeof loadConfig>>,
): Promise<Performance> {
  const { environment } = quick;
  const config = typeof to === "string" ? await loadConfig({ kubeconfig: to, env: {} }) : to;
  const journal = new Journal(httpTransport(config, quick), environment);
  const client = createClient({ transport: journal, ...quick });
  const caches = new SharedCaches({ client, namespaces: [namespace], environment, log: silentLogger, timing });
  const errors: string[] = [];
  const events: ObjectEvent[] = [];
  const log: Logger = {
    ...silentLogger,
    error: (fields) => errors.push(String((fields as { err?: unknown }).err)),
    child: () => log,
  };
  const sink = { record: (event: ObjectEvent) => void events.push(event) };
  const runner = new ControllerRunner(controller, { client, caches, environment, log, metrics: noMetrics, events: sink });
  runner.start();
  runner.work();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= runner.stop().then(() => client.close());
    return stopped;
  };
  return { runner, journal, errors, events, stop, [Symbol.asyncDispose]: stop };
}

/** Helpers that change and read choirs. */
function helpers(client: Client, namespace: string) {
  const get = (name: string) => client.find(Choir, { namespace, name });
  const singers = async (name: string) => {
    const choir = await get(name);
    const { items } = await client.list(ConfigMap, { namespace });
    return items.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === choir?.metadata.uid));
  };
  return {
    get,
    singers,
    /** Creates a choir, or changes its spec. */
    put: (name: string, spec: Partial<Choir["spec"]>) =>
      client.apply(
        Choir,
        { metadata: { namespace, name }, spec: { singers: 2, ...spec } },
        { fieldManager: "test", force: true },
      ),
    remove: (name: string) => client.delete(Choir, { namespace, name }),
    /** Waits until a choir has a condition with this reason. */
    says: (name: string, reason: string) =>
      eventually(
        () => get(name),
        (choir) =>
          choir?.status?.conditions?.[0]?.reason === reason && choir.status.observedGeneration === choir.metadata.generation,
      ),
    /** Waits until the singers are exactly as the spec demands, and the status reports it. */
    complete: (name: string) =>
      eventually(
        async () => ({ choir: await get(name), singers: await singers(name) }),
        ({ choir, singers }) => {
          const wanted = choir === undefined ? [] : singersOf(choir).map(({ object }) => object.metadata.name);
          const right = singers.every(({ data }) => data?.song === choir?.spec.song);
          const said =
            choir?.status?.singers === choir?.spec.singers && choir?.status?.observedGeneration === choir?.metadata.generation;
          return right && said && `${singers.map((singer) => refOf(singer).name).sort()}` === `${wanted.sort()}`;
        },
      ),
  };
}

/** The number of objects that a controller has created: the server answers 201 to an apply that creates. */
export function creations({ journal }: Performance): number {
  return journal.calls.filter(({ path, status }) => status === 201 && path.includes("/configmaps")).length;
}
