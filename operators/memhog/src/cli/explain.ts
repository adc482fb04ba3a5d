// memhog-operator explain POD: the same observation and the same decision as the operator's, made here and now, printed and not
// acted upon. It needs what the operator needs to read, and nothing of the operator itself: it also answers while that is down.
import { controller, done, type OperatorOptions, operator, type SourceWorld, systemEnvironment } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { decide } from "../decide/decide.ts";
import { type Explanation, explanationOf } from "../explain/explanation.ts";
import { appOf, appRef } from "../observe/app-of.ts";
import { PodView } from "../observe/kinds.ts";
import { MemoryPoller } from "../observe/memory-poller.ts";
import { observe } from "../observe/observe.ts";
import type { PrometheusTransport } from "../observe/prometheus/transport.ts";
import { RaiseWitness } from "../observe/raise-witness.ts";
import { watches } from "../observe/watches.ts";
import { NotReadyToStartError } from "./preflight.ts";

export interface ExplainOptions extends Partial<OperatorOptions> {
  readonly namespace: string;
  readonly pod: string;
  readonly prometheus: PrometheusTransport;
  readonly nodes: boolean;
}

/** @throws NotReadyToStartError if there is no such pod */
export async function explainPod(options: ExplainOptions): Promise<Explanation> {
  const { namespace, pod, prometheus, nodes, environment = systemEnvironment() } = options;
  const memory = new MemoryPoller({ transport: prometheus });
  const world = { memory, raises: new RaiseWitness(environment.clock), nodes };
  const { promise, resolve, reject } = Promise.withResolvers<Explanation>();
  const stop = new AbortController();
  let asked = false;

  // A source runs once the caches are right: the moment to ask Prometheus, once, and to look.
  const source = {
    name: "explain",
    run: async ({ cached, environment, signal, wake }: SourceWorld) => {
      const found = cached.get(PodView, { namespace, name: pod });
      const app = found && appOf(found, cached);
      if (app === undefined) return reject(new NotReadyToStartError(noSuchPod(namespace, pod)));
      await memory.poll({ cached, environment, signal });
      asked = true;
      wake(appRef(app), "explain");
    },
  };
  const explaining = controller(
    AppMemory,
    { name: "explain", watches: watches({ nodes }), sources: [source], reports: false },
    async (ref, ctx) => {
      if (!asked) return done(); // what was listed: nothing is known about memory yet
      const seen = await observe(ref, ctx, world);
      if (seen?.pods.some(({ name }) => name === pod) && seen.app.namespace === namespace)
        resolve(explanationOf(seen, decide(seen), pod));
      return done();
    },
  );
  const running = operator({
    ...options,
    ...{ name: "memhog-explain", controllers: [explaining], namespaces: [namespace], environment },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", leaderElection: false },
  }).run(stop.signal);
  try {
    return await Promise.race([promise, running.then(() => Promise.reject(new Error("stopped before it could explain")))]);
  } finally {
    stop.abort();
    await running;
  }
}

function noSuchPod(namespace: string, pod: string): string {
  return `expected a pod ${pod} in namespace ${namespace}, found none → kubectl get pods -n ${namespace}, or choose with -n`;
}
