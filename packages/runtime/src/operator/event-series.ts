// Aggregates Events into series: an identical Event within six minutes increases the count of its series. Pure bookkeeping with
// bounded memory; events.ts writes to the API server.
//
// Two Events are identical only if their messages are equal. client-go ignores the message, so the second of "raised to 512Mi" and
// "raised to 1Gi" would never be shown. A token bucket per object limits the number of different messages instead.

import type { Environment } from "../concurrency/environment.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import type { Event } from "../objects/kinds/access.ts";
import type { ObjectReference } from "../objects/kinds/kind.ts";
import { dnsSubdomain } from "../objects/names.ts";
import { formatMicroTime } from "../objects/time.ts";
import { withoutCredentials } from "../objects/untrusted-text.ts";

/** An Event to record. */
export interface EventInput {
  /** The object that it is about. */
  readonly regarding: ObjectReference;
  /** Another object that is involved. */
  readonly related?: ObjectReference;
  /** @default "Normal" */
  readonly type?: "Normal" | "Warning";
  /** Why, in CamelCase: "ThresholdCrossed". */
  readonly reason: string;
  /** What was done or tried, in CamelCase: "Resize". @default "Reconcile" */
  readonly action?: string;
  /** A sentence for people; cut at 1 KiB. */
  readonly message: string;
}

export interface EventSource {
  /** The operator's name. */
  readonly controller: string;
  /** This process: the pod's name. */
  readonly instance: string;
}

/** One Event and how often it occurred. */
export interface Series {
  readonly event: Event & { readonly metadata: { readonly name: string; readonly namespace: string } };
  count: number;
  lastSeenAt: number;
}

const sixMinutes = 360_000;
// As client-go's spam filter: 25 at once, then one every five minutes.
const perObject = { burst: 25, perSecond: 1 / 300 };
// Enough for six minutes at the rate limit; an evicted series starts over.
const maxEntries = 1_000;

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

  /** Adds an Event to its series and returns the series; undefined if the object exceeds its rate limit. */
  add(input: EventInput): Series | undefined {
    const now = this.#environment.clock.monotonic();
    const { type, reason, action, message } = input;
    const key = JSON.stringify([
      identityOf(input.regarding),
      input.related && identityOf(input.related),
      type,
      reason,
      action,
      message,
    ]);
    const known = this.#series.get(key);
    if (known !== undefined && now - known.lastSeenAt < sixMinutes) {
      known.count += 1;
      known.lastSeenAt = now;
      touch(this.#series, key, known);
      return known;
    }
    if (!this.#bucketOf(input.regarding).tryTake()) return undefined;
    const series: Series = { event: this.#event(input), count: 1, lastSeenAt: now };
    touch(this.#series, key, series);
    return series;
  }

  /** Forgets a series that is not on the server: the next identical Event starts a new one. */
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
    const { regarding, related, type = "Normal", reason, action = "Reconcile", message } = input;
    const { name = "unknown", namespace = "default" } = regarding; // events about cluster-wide objects live in "default"
    const unique = this.#environment.uuid().replaceAll("-", "").slice(0, 16);
    return {
      // Not every object name is a valid Event name: "system:controller" is a valid role name.
      metadata: { name: dnsSubdomain(`${name.slice(0, 230)}.${unique}`), namespace },
      eventTime: formatMicroTime(this.#environment.clock.now()),
      ...{ type, reason: reason.slice(0, 128), action: action.slice(0, 128), note: within1KiB(withoutCredentials(message)) },
      ...{ regarding, ...(related && { related }) },
      ...{ reportingController: this.#source.controller, reportingInstance: this.#source.instance.slice(0, 128) },
    };
  }
}

/** Identifies the object, regardless of its resourceVersion. */
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

/** Moves an entry to the most recent end and evicts the oldest. */
function touch<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > maxEntries && oldest.done !== true) map.delete(oldest.value);
}
