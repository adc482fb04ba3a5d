// What is said about an object, counted: saying the same thing again within six minutes is not a new Event but one more
// in its series. Pure bookkeeping with a bound on everything; events.ts does the writing.
//
// "The same thing" includes the words. client-go leaves them out, and then the second of "raised to 512Mi", "raised to
// 1Gi" is never seen by anybody; what an object may say is bounded by its bucket instead.
import type { Environment } from "../concurrency/environment.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import type { ObjectReference } from "../objects/kinds/common.ts";
import type { Event } from "../objects/kinds/events.ts";
import { dnsSubdomain } from "../objects/names.ts";
import { formatMicroTime } from "../objects/time.ts";

/** Something worth telling whoever looks at an object with `kubectl describe`. */
export interface EventInput {
  /** What it is about. */
  readonly regarding: ObjectReference;
  /** Another object that took part. */
  readonly related?: ObjectReference;
  /** @default "Normal" */
  readonly type?: "Normal" | "Warning";
  /** Why, in CamelCase: "ThresholdCrossed". */
  readonly reason: string;
  /** What was done or tried, in CamelCase: "Resize". @default "Reconcile" */
  readonly action?: string;
  /** A sentence for people; cut at 1 KiB. */
  readonly note: string;
}

export interface EventSource {
  /** The operator's name. */
  readonly controller: string;
  /** This process: the pod's name. */
  readonly instance: string;
}

/** One Event and how often it was said. */
export interface Series {
  readonly event: Event & { readonly metadata: { readonly name: string; readonly namespace: string } };
  count: number;
  lastSaidAt: number;
}

const sixMinutes = 360_000;
// As client-go's spam filter: 25 at once, then one every five minutes.
const perObject = { burst: 25, perSecond: 1 / 300 };
// Enough for everything that happens within six minutes; what is older begins a new series.
const remembered = 1_000;

export class EventSeries {
  readonly #environment: Environment;
  readonly #source: EventSource;
  /** Least recently used first. */
  readonly #series = new Map<string, Series>();
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(environment: Environment, source: EventSource) {
    this.#environment = environment;
    this.#source = source;
  }

  /** The series this belongs to, with its count one up; undefined if the object has said too much already. */
  note(input: EventInput): Series | undefined {
    const now = this.#environment.clock.monotonic();
    const { type, reason, action, note } = input;
    const key = JSON.stringify([
      identityOf(input.regarding),
      input.related && identityOf(input.related),
      type,
      reason,
      action,
      note,
    ]);
    const known = this.#series.get(key);
    if (known !== undefined && now - known.lastSaidAt < sixMinutes) {
      known.count += 1;
      known.lastSaidAt = now;
      touch(this.#series, key, known);
      return known;
    }
    if (!this.#bucketOf(input.regarding).tryTake()) return undefined;
    const series: Series = { event: this.#event(input), count: 1, lastSaidAt: now };
    touch(this.#series, key, series);
    return series;
  }

  /** The Event is gone from the server, or never got there: saying it again begins anew. */
  forget(series: Series): void {
    for (const [key, known] of this.#series) if (known === series) this.#series.delete(key);
  }

  #bucketOf(regarding: ObjectReference): TokenBucket {
    const key = identityOf(regarding);
    const bucket = this.#buckets.get(key) ?? new TokenBucket({ clock: this.#environment.clock, ...perObject });
    touch(this.#buckets, key, bucket);
    return bucket;
  }

  #event(input: EventInput): Series["event"] {
    const { regarding, related, type = "Normal", reason, action = "Reconcile", note } = input;
    const { name = "unknown", namespace = "default" } = regarding; // events about cluster-wide objects live in "default"
    const unique = this.#environment.uuid().replaceAll("-", "").slice(0, 16);
    return {
      // Not every object has a name that an Event may have: "system:controller" is a role.
      metadata: { name: dnsSubdomain(`${name.slice(0, 230)}.${unique}`), namespace },
      eventTime: formatMicroTime(this.#environment.clock.now()),
      ...{ type, reason: reason.slice(0, 128), action: action.slice(0, 128), note: within1KiB(note) },
      ...{ regarding, ...(related && { related }) },
      ...{ reportingController: this.#source.controller, reportingInstance: this.#source.instance.slice(0, 128) },
    };
  }
}

/** Which object it is, not in which version: that changes all the time. */
function identityOf({ kind, namespace, name, uid, fieldPath }: ObjectReference): string {
  return [kind, namespace, name, uid, fieldPath].join("/");
}

/** At most 1024 bytes, cut between two characters. */
export function within1KiB(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= 1024) return text;
  const room = 1024 - Buffer.byteLength("…");
  // A character cut in two decodes to U+FFFD, which is as long as the ellipsis; drop it.
  return `${bytes
    .subarray(0, room)
    .toString("utf8")
    .replace(/\uFFFD$/, "")}…`;
}

/** Puts an entry at the young end and lets the oldest go. */
function touch<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > remembered && oldest.done !== true) map.delete(oldest.value);
}
