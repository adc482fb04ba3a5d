// Faults of Prometheus, which can be set and removed at any time: corrupt scraped samples (`tamper`), failing requests
// (`onRequest`) and changed responses (`retouch`).
import { TransportError, type TransportRequest, type TransportResponse } from "@memhog/runtime/client";
import type { Clock } from "@memhog/runtime/concurrency";
import { failure, type QueryData } from "./api.ts";
import type { Labels, Sample } from "./exposition.ts";
import type { Tamper } from "./scraper.ts";

/** What happens to a request. */
export type RequestFault =
  /** The connection is refused. */
  | { readonly kind: "refuse" }
  /** The connection breaks before the response. */
  | { readonly kind: "reset" }
  /** The response is delayed by this many milliseconds. */
  | { readonly kind: "slow"; readonly ms: number }
  /** A status; without a body, an error in the format of Prometheus. */
  | { readonly kind: "status"; readonly status: number; readonly body?: string }
  /** A 200 with an HTML page, as from a login proxy. */
  | { readonly kind: "html" };

export interface PrometheusFaults {
  /** Called before each request; undefined: no fault. */
  onRequest?: ((request: TransportRequest) => RequestFault | undefined) | undefined;
  /** Changes the scraped samples. See `corruptSamples`. */
  tamper?: Tamper | undefined;
  /** Changes a response. */
  retouch?: ((data: QueryData) => QueryData) | undefined;
  /** Warnings in every response, as when a part of the data could not be read. */
  warnings?: readonly string[] | undefined;
}

/** Responds with a fault. @throws TransportError if there is no response */
export async function answerUnder(
  fault: RequestFault | undefined,
  {
    clock,
    signal,
    answer,
  }: { readonly clock: Clock; readonly signal: AbortSignal | undefined; readonly answer: () => TransportResponse },
): Promise<TransportResponse> {
  switch (fault?.kind) {
    case "refuse":
      throw new TransportError("connect ECONNREFUSED (injected fault)", { outcome: "not-sent" });
    case "reset":
      throw new TransportError("read ECONNRESET (injected fault)", { outcome: "unknown" });
    case "slow":
      await clock.sleep(fault.ms, signal);
      return answer();
    case "status":
      return fault.body === undefined
        ? failure(fault.status, "internal", "a fault of the test")
        : { status: fault.status, headers: { "content-type": "text/plain" }, body: fault.body };
    case "html":
      return { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title>" };
    case undefined:
      return answer();
  }
}

/** Selects samples: those that have all of these labels (and, under `__name__`, this name). */
type About = Labels;

function isAbout({ name, labels }: Sample, about: About): boolean {
  return Object.entries({ ...about }).every(([label, value]) => (label === "__name__" ? name : labels[label]) === value);
}

function changing(about: About, change: (sample: Sample) => readonly Sample[]): Tamper {
  return (samples) => samples.flatMap((sample) => (isAbout(sample, about) ? change(sample) : [sample]));
}

/** Returns the same changed labels each time, because the labels object identifies a series. */
function relabelled(): (labels: Labels, change: (labels: Labels) => Labels) => Labels {
  const known = new WeakMap<Labels, Labels>();
  return (labels, change) => {
    const changed = known.get(labels) ?? change(labels);
    known.set(labels, changed);
    return changed;
  };
}

/** Ways to corrupt metrics. */
export const corruptSamples = {
  /** Replaces values with NaN, Infinity, -1 or any other number. */
  value: (value: number, about: About = {}): Tamper => changing(about, (sample) => [{ ...sample, value }]),
  /** Drops samples. */
  missing: (about: About = {}): Tamper => changing(about, () => []),
  /** Moves the timestamps of samples back by this many milliseconds. */
  stale: (ageMs: number, about: About = {}): Tamper =>
    changing(about, (sample) => [
      sample.timestampMs === undefined ? sample : { ...sample, timestampMs: sample.timestampMs - ageMs },
    ]),
  /** Duplicates a container with another ID and value, as after a restart or with a second scraper. */
  twice: (value: (truth: number) => number, about: About = {}): Tamper => {
    const relabel = relabelled();
    return changing(about, (sample) => {
      const labels = relabel(sample.labels, (own) => ({ ...own, id: `${own.id ?? ""}-twin`, name: `${own.name ?? ""}-twin` }));
      return [sample, { ...sample, labels, value: value(sample.value) }];
    });
  },
  /** Duplicates series in another namespace, as if two clusters shared a Prometheus. */
  foreign: (namespace: string, value: (truth: number) => number, about: About = {}): Tamper => {
    const relabel = relabelled();
    return changing(about, (sample) => {
      const labels = relabel(sample.labels, (own) => ({ ...own, namespace }));
      return [sample, { ...sample, labels, value: value(sample.value) }];
    });
  },
  /** Uses the labels `pod_name` and `container_name`, as before Kubernetes 1.16. */
  oldLabelNames: (): Tamper => {
    const relabel = relabelled();
    const old = ({ pod = "", container = "", ...rest }: Record<string, string>) => ({
      ...rest,
      pod_name: pod,
      container_name: container,
    });
    return changing({}, (sample) => [{ ...sample, labels: relabel(sample.labels, old) }]);
  },
} as const;

/** Applies several corruptions in order. */
export function composeFaults(...tampers: readonly Tamper[]): Tamper {
  return (samples, target) => tampers.reduce((said, tamper) => tamper(said, target), samples);
}
