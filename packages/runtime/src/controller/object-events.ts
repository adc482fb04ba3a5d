// Telling people. What a controller says about an object appears in `kubectl describe`; operator/ writes it, aggregated and
// within bounds. Saying something never fails and never waits.
import type { ObjectReference } from "../objects/kinds/common.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type Stored } from "../objects/object.ts";

/** Something worth telling. */
export interface Remark {
  /** Why, in CamelCase: "PodReplaced". It is public API: people write alerts on it. */
  readonly reason: string;
  /** A sentence for people. */
  readonly note: string;
  /** @default "Normal" */
  readonly type?: "Normal" | "Warning";
  /** What was done or tried, in CamelCase. @default "Reconcile" */
  readonly action?: string;
}

export interface ObjectEvent extends Remark {
  readonly regarding: ObjectReference;
}

/** Where events go. */
export interface EventSink {
  record(event: ObjectEvent): void;
}

/** How an event names its object. */
export function referenceTo(kind: Kind, object: Stored<KubernetesObject>): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const where = namespace === undefined ? {} : { namespace };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...where, name, uid, resourceVersion };
}
