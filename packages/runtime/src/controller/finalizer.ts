// A finalizer keeps a deleted object until its controller has cleaned up resources outside the cluster; children with an owner
// reference need none. The rules: it is never added to an object that is being deleted (the API server rejects that), it is
// added before anything that needs cleanup is created, it is removed only after the cleanup returns done(), and every step is
// a compare-and-swap.
import { NotFoundError } from "../client/errors.ts";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import { done, type Outcome, requeueAfter } from "./outcome.ts";
import type { ReconcileScope } from "./reconcile.ts";

/** Adds or runs the finalizer. Undefined: nothing to do, reconcile the object. Otherwise the reconcile ends with the outcome. */
export async function finalize(
  scope: ReconcileScope,
  object: Stored<KubernetesObject>,
  name: string,
  cleanUp: () => Promise<Outcome>,
): Promise<Outcome | undefined> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  const present = finalizers.includes(name);
  if (deletionTimestamp === undefined) {
    if (present) return undefined;
    await setFinalizers(scope, object, [...finalizers, name]);
    // This copy of the object is now older than our own write: the next reconcile starts with the new one.
    return requeueAfter(0, `finalizer ${name} added`);
  }
  if (!present) return done(); // other finalizers may remain; ours does not
  const outcome = await cleanUp();
  if (outcome.kind === "done")
    await setFinalizers(
      scope,
      object,
      finalizers.filter((other) => other !== name),
    );
  return outcome;
}

async function setFinalizers(
  scope: ReconcileScope,
  object: Stored<KubernetesObject>,
  finalizers: readonly string[],
): Promise<void> {
  const { resourceVersion } = object.metadata;
  const patch = { type: "merge", body: { metadata: { resourceVersion, finalizers } } } as const;
  try {
    await scope.client.patch(scope.kind, object.metadata, patch, { fieldManager: scope.fieldManager });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // already gone
  }
}
