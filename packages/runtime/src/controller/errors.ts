// What reconcilers throw, and what the loop concludes (after-reconcile.ts). The kind of an error tells the loop what to
// do; everything that is not here or in the client's catalogue is retried with growing delays.
import { type Kind, type KubernetesObject, keyOf, refOf } from "../objects/object.ts";

/** Anything this folder throws on purpose. */
export abstract class ControllerError extends Error {
  /** Stable: safe to match on, to log and to count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** Trying again will not help until something changes: `throw new PermanentError("spec.schedule names no time")`. */
export class PermanentError extends ControllerError {
  readonly code: string = "PERMANENT";
}

/** An object of the name of a child exists, and is somebody else's. It is left alone; renaming or deleting it helps. */
export class ChildNotOursError extends PermanentError {
  override readonly code = "CHILD_NOT_OURS";
  readonly child: KubernetesObject;

  constructor(kind: Kind, child: KubernetesObject, owner: KubernetesObject) {
    const theirs = child.metadata?.ownerReferences?.find(({ controller }) => controller);
    const found = theirs === undefined ? "nobody" : `${theirs.kind} ${theirs.name} (UID ${theirs.uid})`;
    super(
      `${kind.kind} ${keyOf(refOf(child))}: expected it to be controlled by ${keyOf(refOf(owner))} (UID ${owner.metadata?.uid}), found ${found} → it is not touched; rename or remove one of them`,
    );
    this.child = child;
  }
}

/** Several children could not be had; each says why. The others are as they should be. */
export class SeveralChildrenError extends PermanentError {
  override readonly code = "SEVERAL_CHILDREN";
  readonly errors: readonly Error[];

  constructor(errors: readonly Error[]) {
    super(`${errors.length} children: ${errors.map(({ message }) => message).join("; ")}`, { cause: errors[0] });
    this.errors = errors;
  }
}

/** A reconciler asked for a kind that its controller neither owns nor watches. The compiler refuses this first. */
export class KindNotCachedError extends PermanentError {
  override readonly code = "KIND_NOT_CACHED";

  constructor(kind: Kind, controller: string) {
    super(`controller ${controller}: expected ${kind.kind} among its kinds, found it missing → add it to owns or watches`);
  }
}

/** A reconcile is over, by its end or by its time limit, and something it started still wants to write. */
export class ReconcileEndedError extends ControllerError {
  readonly code = "RECONCILE_ENDED";

  constructor(controller: string) {
    super(
      `controller ${controller}: expected calls only during a reconcile, found one after its end → await everything you start`,
    );
  }
}
