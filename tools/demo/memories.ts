// What the demo knows about the pods it shows: what the operator saw and decided last, and what the cluster says they have.
import type { Pass } from "@memhog/memhog-operator";
import { type Client, Pod, parseQuantity, type Stored } from "@memhog/runtime";
import type { Bar } from "./bars.ts";

export interface Shown {
  readonly pod: string;
  readonly limit: number;
  readonly request: number;
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly restarts: number;
  readonly oomKilled: boolean;
}

interface Verdict {
  readonly usage: number | undefined;
  readonly threshold: number | undefined;
  readonly text: string;
  readonly reason: string;
  readonly kind: string;
}

export class Memories {
  readonly #verdicts = new Map<string, Verdict>();
  /** Told when a decision about a pod is another than before. */
  readonly #onNews: (pod: string, verdict: Verdict) => void;

  constructor(onNews: (pod: string, verdict: Verdict) => void) {
    this.#onNews = onNews;
  }

  readonly note = ({ plan }: Pass): void => {
    for (const { pod, decision, inputs } of plan.verdicts) {
      const before = this.#verdicts.get(pod.name);
      const { usage = before?.usage, thresholdBytes: threshold } = inputs;
      const verdict = { usage, threshold, text: decision.detail, reason: decision.reason, kind: decision.kind };
      this.#verdicts.set(pod.name, verdict);
      if (before?.reason !== verdict.reason) this.#onNews(pod.name, verdict);
    }
  };

  bars(pods: readonly Shown[]): readonly Bar[] {
    return pods.map(({ pod, limit, ready, deleting }) => {
      const { usage, threshold, reason = "" } = this.#verdicts.get(pod) ?? {};
      return { pod, usage, limit, threshold, remark: deleting ? "going" : ready ? reason : "starting" };
    });
  }
}

export async function podsOf(client: Client, namespace: string): Promise<readonly Shown[]> {
  const { items } = await client.list(Pod, { namespace, labelSelector: "name=memhog" });
  return items.map(shownOf).sort((a, b) => a.pod.localeCompare(b.pod));
}

function shownOf({ metadata, spec, status }: Stored<Pod>): Shown {
  const [container] = spec.containers;
  const [of] = status?.containerStatuses ?? [];
  // What is in force, where the kubelet says so; what is asked for, where it does not (before 1.33).
  const { limits = {}, requests = {} } = of?.resources ?? container?.resources ?? {};
  const killed = of?.state?.terminated ?? of?.lastState?.terminated;
  return {
    pod: metadata.name,
    limit: bytesIn(limits.memory),
    request: bytesIn(requests.memory),
    ready: status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    deleting: metadata.deletionTimestamp !== undefined,
    restarts: of?.restartCount ?? 0,
    oomKilled: killed?.reason === "OOMKilled",
  };
}

const bytesIn = (quantity: string | number | undefined): number =>
  quantity === undefined ? 0 : Number(parseQuantity(quantity).value());
