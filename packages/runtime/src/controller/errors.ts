// The errors of controllers. The class of an error decides what the loop does next (outcome.ts). The loop retries any error
// that is neither defined here nor in client/errors.ts with a back-off.
import { type Kind, type KubernetesObject, keyOf, refOf } from "../objects/object.ts";

/** Base class of the errors of controllers. */
export abstract class ControllerError extends Error {
  /** Stable across releases: match on this, not on the message. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** Stops retries until the object or its children change: `throw new TerminalError("spec.schedule is not a time")`. */
export class TerminalError extends ControllerError {
  readonly code: string = "TERMINAL";
}

/** An object with the name of a child exists and has another owner. The runtime does not touch it. Rename or delete one of the two. */
export class AlreadyOwnedError extends TerminalError {
  override readonly code = "ALREADY_OWNED";
  readonly child: KubernetesObject;

  constructor(kind: Kind, child: KubernetesObject, owner: KubernetesObject) {
    const theirs = child.metadata?.ownerReferences?.find(({ controller }) => controller);
    const found = theirs === undefined ? "no controller" : `${theirs.kind} ${theirs.name} (UID ${theirs.uid})`;
    super(
      `${kind.kind} ${keyOf(refOf(child))}: expected it to be controlled by ${keyOf(refOf(owner))} (UID ${owner.metadata?.uid}), found ${found} → rename or delete one of the two, or let the child adopt an object without a controller; the existing object is not touched`,
    );
    this.child = child;
  }
}

/**
 * A child was written so often that the next write has to wait: its desired state differs on every reconcile, for example
 * because it has a random or time-dependent field, or another writer keeps changing it.
 */
export class UnstableChildError extends ControllerError {
  readonly code = "UNSTABLE_CHILD";
  /** Milliseconds until the next write is allowed. */
  readonly retryAfterMs: number;

  constructor(
    child: string,
    cause: { readonly isOurChange: boolean; readonly paths: readonly string[]; readonly waitMs: number },
  ) {
    const found = cause.isOurChange ? "another desired state on every reconcile" : "another writer that keeps changing it";
    const where = cause.paths.length === 0 ? "" : ` (${cause.paths.join(", ")})`;
    const advice = cause.isOurChange ? 'compute it from the object only, or use mode "once"' : "stop one of the two writers";
    super(
      `${child}: expected a stable desired state, found ${found}${where} → ${advice}; until then it is written every 10 s at most`,
    );
    this.retryAfterMs = cause.waitMs;
  }
}

/** Several children could not be applied; `errors` has one error for each. All other children are as desired. */
export class AggregateChildError extends TerminalError {
  override readonly code = "AGGREGATE";
  readonly errors: readonly Error[];

  constructor(errors: readonly Error[]) {
    super(`${errors.length} children: ${errors.map(({ message }) => message).join("; ")}`, { cause: errors[0] });
    this.errors = errors;
  }
}

/** A reconcile function read a kind that its controller neither owns nor watches. The compiler normally reports this. */
export class KindNotCachedError extends TerminalError {
  override readonly code = "KIND_NOT_CACHED";

  constructor(kind: Kind, controller: string) {
    super(`controller ${controller}: expected ${kind.kind} to be owned or watched, found neither → add it to owns or watches`);
  }
}

/** A call was made after its reconcile returned or timed out. */
export class ReconcileEndedError extends ControllerError {
  readonly code = "RECONCILE_ENDED";

  constructor(controller: string) {
    super(
      `controller ${controller}: expected calls only during a reconcile, found one after it ended → await every promise before you return`,
    );
  }
}
