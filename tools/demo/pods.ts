// The pods of the demo: their state in the cluster, and the operator's latest decision for each.
import type { Pass } from "@memhog/memhog-operator";
import { type Client, Pod, parseQuantity, type Stored } from "@memhog/runtime";
import type { Bar } from "./bars.ts";

export interface PodState {
  readonly pod: string;
  readonly limit: number;
  readonly request: number;
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly restarts: number;
  readonly oomKilled: boolean;
}

export interface LatestDecision {
  readonly usage: number | undefined;
  readonly threshold: number | undefined;
  readonly message: string;
  readonly reason: string;
  readonly kind: string;
}

/** Keeps the latest decision per pod and reports when its reason changes. */
export class DecisionLog {
  readonly #latest = new Map<string, LatestDecision>();
  readonly #onChange: (pod: string, decision: LatestDecision) => void;

  constructor(onChange: (pod: string, decision: LatestDecision) => void) {
    this.#onChange = onChange;
  }

  readonly record = ({ plan }: Pass): void => {
    for (const { pod, decision, inputs } of plan.verdicts) {
      const before = this.#latest.get(pod.name);
      const { usage = before?.usage, thresholdBytes: threshold } = inputs;
      const latest = { usage, threshold, message: decision.detail, reason: decision.reason, kind: decision.kind };
      this.#latest.set(pod.name, latest);
      if (before?.reason !== latest.reason) this.#onChange(pod.name, latest);
    }
  };

  get(pod: string): LatestDecision | undefined {
    return this.#latest.get(pod);
  }

  bars(pods: readonly PodState[]): readonly Bar[] {
    return pods.map(({ pod, limit, ready, deleting }) => {
      const { usage, threshold, reason = "" } = this.#latest.get(pod) ?? {};
      return { pod, usage, limit, threshold, state: deleting ? "Terminating" : ready ? reason : "Starting" };
    });
  }
}

export async function listPods(client: Client, namespace: string): Promise<readonly PodState[]> {
  const { items } = await client.list(Pod, { namespace, labelSelector: "name=memhog" });
  return items.map(podState).sort((a, b) => a.pod.localeCompare(b.pod));
}

function podState({ metadata, spec, status }: Stored<Pod>): PodState {
  const [container] = spec.containers;
  const [containerStatus] = status?.containerStatuses ?? [];
  // The status has the limit in effect. Before Kubernetes 1.33, only the spec has a limit.
  const { limits = {}, requests = {} } = containerStatus?.resources ?? container?.resources ?? {};
  const terminated = containerStatus?.state?.terminated ?? containerStatus?.lastState?.terminated;
  return {
    pod: metadata.name,
    limit: bytesIn(limits.memory),
    request: bytesIn(requests.memory),
    ready: status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false,
    deleting: metadata.deletionTimestamp !== undefined,
    restarts: containerStatus?.restartCount ?? 0,
    oomKilled: terminated?.reason === "OOMKilled",
  };
}

const bytesIn = (quantity: string | number | undefined): number =>
  quantity === undefined ? 0 : Number(parseQuantity(quantity).value());
