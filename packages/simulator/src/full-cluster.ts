// The components that turn an API server into a cluster, in start order: controllers, then nodes and Prometheus if requested.
//
//     const cluster = fullCluster({ nodes: { count: 3 }, prometheus: true });
//     await using simulator = await startSimulator({ environment, components: cluster });
//     await cluster.prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "up" } });
//     await cluster.nodes.node("node-1").losePower();

import type { Environment } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { startControllers } from "./controllers/controllers.ts";
import { StorageClass } from "./controllers/storage.ts";
import { type HollowNodes, type HollowNodesComponentOptions, hollowNodes } from "./nodes/hollow-nodes.ts";
import {
  type PrometheusComponentOptions,
  prometheus as prometheusComponent,
  type SimulatedPrometheus,
} from "./prometheus/prometheus.ts";
import type { Component } from "./simulator.ts";

export interface FullClusterOptions {
  /** Nodes that start with the cluster. startHollowNodes() adds more later. @default none */
  readonly nodes?: HollowNodesComponentOptions | undefined;
  /** A Prometheus that scrapes these nodes. With `port` it also listens on 127.0.0.1. @default none */
  readonly prometheus?: boolean | Omit<PrometheusComponentOptions, "nodes"> | undefined;
  /** Creates a default StorageClass named "standard", so that claims are bound. Its volumes can be expanded. @default true */
  readonly defaultStorageClass?: boolean | undefined;
}

/** The components. The named ones are available once the simulator has started. */
export interface FullCluster extends Iterable<Component> {
  /** @throws TypeError if the options contain neither nodes nor a Prometheus */
  readonly nodes: HollowNodes;
  /** An in-memory transport. @throws TypeError if the options contain no Prometheus */
  readonly prometheus: SimulatedPrometheus;
  /** http://127.0.0.1:PORT of Prometheus, if the options set a port. */
  readonly prometheusUrl: string | undefined;
}

export function fullCluster({
  nodes: given,
  prometheus: asked = false,
  defaultStorageClass = true,
}: FullClusterOptions = {}): FullCluster {
  const nodes = hollowNodes(given ?? { specs: [] });
  const metrics = asked === false ? undefined : prometheusComponent({ ...(asked === true ? {} : asked), nodes });
  const components: Component[] = [controllers(defaultStorageClass)];
  if (given !== undefined || metrics !== undefined) components.push(nodes);
  if (metrics !== undefined) components.push(metrics);
  return {
    [Symbol.iterator]: () => components[Symbol.iterator](),
    get nodes() {
      return nodes.nodes;
    },
    get prometheus() {
      if (metrics === undefined)
        throw new TypeError("expected fullCluster({ prometheus: true }), found a cluster without Prometheus");
      return metrics.prometheus;
    },
    get prometheusUrl() {
      return metrics?.url;
    },
  };
}

const controllers = (defaultStorageClass: boolean): Component => ({
  name: "controllers",
  start: async (simulator) => {
    if (defaultStorageClass) await simulator.client().create(StorageClass, standardClass);
    const client = simulator.client({ userAgent: "kube-controller-manager" });
    const { environment, authority } = simulator;
    const running = await startControllers({ client, environment, authority, log: silentLogger });
    return () => running.stop();
  },
});

const standardClass: StorageClass = {
  metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: "simulator.memhog.dev/volumes",
  allowVolumeExpansion: true,
};

// Accelerated time, for demos. Unlike a manual clock it skips nothing, so work that takes real time appears slower.

/** The same environment with a clock that runs `speed` times as fast. */
export function accelerated(environment: Environment, speed: number): Environment {
  if (!(speed > 0)) throw new RangeError(`expected a speed above 0, found ${speed}`);
  const { clock } = environment;
  const startedAt = clock.now();
  const started = clock.monotonic();
  return {
    ...environment,
    clock: {
      now: () => Math.round(startedAt + (clock.now() - startedAt) * speed),
      monotonic: () => started + (clock.monotonic() - started) * speed,
      after: (milliseconds, callback) => clock.after(milliseconds / speed, callback),
      sleep: (milliseconds, signal) => clock.sleep(milliseconds / speed, signal),
    },
  };
}
