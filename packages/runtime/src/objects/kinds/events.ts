// What happened to an object, for people: events.k8s.io/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { ObjectReference, Time } from "./common.ts";
import { namespacedKind } from "./kind.ts";

/** `events.k8s.io/v1` `events`. */
export interface Event extends KubernetesObject {
  /** RFC 3339 with six digits of a second; required. */
  readonly eventTime?: string;
  readonly type?: "Normal" | "Warning";
  /** Why, in CamelCase, for machines; at most 128 characters. */
  readonly reason?: string;
  /** What was done, in CamelCase; at most 128 characters. */
  readonly action?: string;
  /** For people; at most 1024 bytes. */
  readonly note?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: Time;
  readonly deprecatedLastTimestamp?: Time;
  readonly deprecatedSource?: { readonly component?: string; readonly host?: string };
}
export const Event: Kind<Event> = namespacedKind("events.k8s.io/v1", "Event", "events");
