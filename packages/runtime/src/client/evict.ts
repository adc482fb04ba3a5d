// Eviction: the only deletion of a pod that asks the disruption budgets.
import { Pod } from "../objects/kinds/core/pod.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { CallOptions, WriteOptions } from "./client.ts";
import type { Spoken } from "./subresource.ts";

/** A client that may: `may(Pod, "create", { subresource: "eviction" })`. */
export interface Evictor {
  create(kind: typeof Pod, eviction: Spoken<Pod, "eviction">, options: WriteOptions<"eviction">): Promise<unknown>;
}

export interface EvictOptions extends CallOptions {
  /** Only this very pod, not one that has taken its name since. */
  readonly uid?: string | undefined;
  /** Only if it still is as we saw it. */
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * Asks for a pod to go. Without a PodDisruptionBudget this always succeeds: count ready replicas yourself first.
 * @throws TooManyRequestsError if a budget says not now (cause `DisruptionBudget`), InternalError if several budgets cover
 * the pod, ConflictError if it is not the pod meant, NotFoundError if it is gone
 */
export async function evict(client: Evictor, ref: ObjectRef, options: EvictOptions = {}): Promise<void> {
  const { uid, resourceVersion, gracePeriodSeconds, dryRun, ...call } = options;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const deleteOptions = {
    preconditions,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ["All"] }),
  };
  await client.create(Pod, { metadata: { ...ref }, deleteOptions }, { ...call, subresource: "eviction" });
}
