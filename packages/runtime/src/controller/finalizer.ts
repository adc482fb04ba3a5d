// A last word before an object goes. A finalizer keeps a deleted object until its controller has cleaned up what Kubernetes
// does not know of; children with an owner reference need none. The rules that are easy to break are kept here: it is
// never added to an object that is being deleted (the API forbids it), it is added before anything that needs cleaning up
// is made, it is removed only when the clean-up says that it is done, and every step is a compare-and-swap.
import { NotFoundError } from "../client/errors.ts";
import { isQualifiedName } from "../objects/names.ts";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import { checkAgainIn, done, type Outcome } from "./outcome.ts";
import type { Work } from "./work.ts";

/** Checks the name when the controller is defined, rather than when the first object is created. */
export function checkFinalizerName(name: string): void {
  if (name.includes("/") && isQualifiedName(name)) return;
  throw new TypeError(`finalizer: expected a name in a domain of yours, like "gordon.example.com/cleanup", found "${name}"`);
}

/**
 * What the finalizer demands before anything else is done. Undefined: nothing, the object may be reconciled.
 * Otherwise the reconcile ends with the outcome.
 */
export async function finalize(
  work: Work,
  object: Stored<KubernetesObject>,
  name: string,
  cleanUp: () => Promise<Outcome>,
): Promise<Outcome | undefined> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  const present = finalizers.includes(name);
  if (deletionTimestamp === undefined) {
    if (present) return undefined;
    await setFinalizers(work, object, [...finalizers, name]);
    // The object in our hands is older than our own write now: the next reconcile starts with the new one.
    return checkAgainIn(0, `finalizer ${name} added`);
  }
  if (!present) return done(); // others may still have something to do; we have not
  const outcome = await cleanUp();
  if (outcome.kind === "done")
    await setFinalizers(
      work,
      object,
      finalizers.filter((other) => other !== name),
    );
  return outcome;
}

async function setFinalizers(work: Work, object: Stored<KubernetesObject>, finalizers: readonly string[]): Promise<void> {
  const { resourceVersion } = object.metadata;
  const patch = { type: "merge", body: { metadata: { resourceVersion, finalizers } } } as const;
  try {
    await work.client.patch(work.kind, object.metadata, patch, { fieldManager: work.fieldManager });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // gone: there is nothing left to hold or to let go
  }
}
