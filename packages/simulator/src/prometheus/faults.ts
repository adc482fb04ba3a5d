// Bad days of a Prometheus, for tests of those who ask it. Two places can be spoiled: what it keeps of a scrape (`tamper`),
// and what becomes of a question (`onRequest`, `retouch`). They may be set and taken back at any time.
import { type Clock, TransportError, type TransportRequest, type TransportResponse } from "@memhog/runtime";
import type { QueryData } from "./answer.ts";
import { failure } from "./answer.ts";
import type { Labels, Sample } from "./exposition.ts";
import type { Tamper } from "./scraper.ts";

/** What becomes of a question. */
export type RequestFault =
  /** Nobody listens. */
  | { readonly kind: "refuse" }
  /** The connection breaks while the answer is waited for. */
  | { readonly kind: "reset" }
  /** The answer comes, so many milliseconds later. */
  | { readonly kind: "slow"; readonly ms: number }
  /** A status of one's choice; without a body Prometheus's own kind of error. */
  | { readonly kind: "status"; readonly status: number; readonly body?: string }
  /** 200, and then the login page of a proxy. */
  | { readonly kind: "html" };

export interface PrometheusFaults {
  /** Asked before each request; undefined: it is answered as usual. */
  onRequest?: ((request: TransportRequest) => RequestFault | undefined) | undefined;
  /** Changes what a target said. See `lies`. */
  tamper?: Tamper | undefined;
  /** Changes an answer. */
  retouch?: ((data: QueryData) => QueryData) | undefined;
  /** Stand in every answer, as when a part of the data could not be read. */
  warnings?: readonly string[] | undefined;
}

/** Answers under a fault. @throws TransportError where there is no answer */
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
      throw new TransportError("connect ECONNREFUSED (a fault of the test)", { outcome: "not-sent" });
    case "reset":
      throw new TransportError("read ECONNRESET (a fault of the test)", { outcome: "unknown" });
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

/** Which samples a lie is about: those that have all of these labels (and, under `__name__`, this name). */
export type About = Labels;

function isAbout({ name, labels }: Sample, about: About): boolean {
  return Object.entries({ ...about }).every(([label, value]) => (label === "__name__" ? name : labels[label]) === value);
}

function changing(about: About, change: (sample: Sample) => readonly Sample[]): Tamper {
  return (samples) => samples.flatMap((sample) => (isAbout(sample, about) ? change(sample) : [sample]));
}

/** Labels that nobody has seen before, the same ones each time: a series is recognised by them. */
function relabelled(): (labels: Labels, change: (labels: Labels) => Labels) => Labels {
  const known = new WeakMap<Labels, Labels>();
  return (labels, change) => {
    const changed = known.get(labels) ?? change(labels);
    known.set(labels, changed);
    return changed;
  };
}

/** Ways for metrics to be wrong. */
export const lies = {
  /** NaN, Infinity, -1 or any other number in place of the truth. */
  value: (value: number, about: About = {}): Tamper => changing(about, (sample) => [{ ...sample, value }]),
  /** Nothing where something was. */
  missing: (about: About = {}): Tamper => changing(about, () => []),
  /** What was measured so many milliseconds earlier than it says. */
  stale: (ageMs: number, about: About = {}): Tamper =>
    changing(about, (sample) => [
      sample.timestampMs === undefined ? sample : { ...sample, timestampMs: sample.timestampMs - ageMs },
    ]),
  /** The same container a second time, under another id and with another value: as after a restart, or of a second scraper. */
  twice: (value: (truth: number) => number, about: About = {}): Tamper => {
    const relabel = relabelled();
    return changing(about, (sample) => {
      const labels = relabel(sample.labels, (own) => ({ ...own, id: `${own.id ?? ""}-twin`, name: `${own.name ?? ""}-twin` }));
      return [sample, { ...sample, labels, value: value(sample.value) }];
    });
  },
  /** The same series in another namespace as well, as if two clusters shared a Prometheus. */
  foreign: (namespace: string, value: (truth: number) => number, about: About = {}): Tamper => {
    const relabel = relabelled();
    return changing(about, (sample) => {
      const labels = relabel(sample.labels, (own) => ({ ...own, namespace }));
      return [sample, { ...sample, labels, value: value(sample.value) }];
    });
  },
  /** `pod_name` and `container_name`, as before Kubernetes 1.16. */
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

/** One lie after the other. */
export function together(...tampers: readonly Tamper[]): Tamper {
  return (samples, target) => tampers.reduce((said, tamper) => tamper(said, target), samples);
}
