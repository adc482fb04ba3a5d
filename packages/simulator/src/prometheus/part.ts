// A Prometheus as a part of the simulator, scraping its hollow nodes.
import { cadvisorTarget } from "../nodes/cadvisor/serve.ts";
import type { HollowNodesPart } from "../nodes/part.ts";
import type { SimulatorPart } from "../simulator.ts";
import { type HttpEndpoint, serve } from "./http.ts";
import { type PrometheusOptions, type SimulatedPrometheus, startPrometheus } from "./prometheus.ts";

export interface PrometheusPart extends SimulatorPart {
  /** Once the simulator has started. */
  readonly prometheus: SimulatedPrometheus;
  /** http://127.0.0.1:PORT, if it was asked for. */
  readonly url: string | undefined;
}

export interface PrometheusPartOptions extends Omit<PrometheusOptions, "environment" | "targets"> {
  /** Whose nodes to scrape; a part that starts before this one. */
  readonly nodes: HollowNodesPart;
  /** Further targets. */
  readonly targets?: PrometheusOptions["targets"];
  /** Also answer at a port of this machine; 0 for any that is free. @default in memory only */
  readonly port?: number;
}

export function prometheus({ nodes, targets = [], port, ...options }: PrometheusPartOptions): PrometheusPart {
  let started: SimulatedPrometheus | undefined;
  let endpoint: HttpEndpoint | undefined;
  return {
    name: "prometheus",
    get prometheus() {
      if (started === undefined) throw new TypeError("expected a Prometheus that was started with a simulator, found none");
      return started;
    },
    get url() {
      return endpoint?.url;
    },
    async start({ environment }) {
      const others = typeof targets === "function" ? targets : () => targets;
      const all = () => [...nodes.nodes.all.map(cadvisorTarget), ...others()];
      const running = startPrometheus({ ...options, environment, targets: all });
      started = running;
      if (port !== undefined) endpoint = await serve((request) => running.request(request), port);
      return async () => {
        running.stop();
        await endpoint?.[Symbol.asyncDispose]();
      };
    },
  };
}
