// A run as its reconciler sees it. A class, because one is made for every reconcile: an object literal with getters would be
// of a shape of its own each time, and shapes are kept until the next full collection, with all that their getters hold
// (3 KB for every reconcile of an object that needed nothing).
import type { Index } from "../cache/object-index.ts";
import type { Client } from "../client/client.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import { applyChildren, type ChildrenOptions, type DesiredChild } from "./children.ts";
import type { Context, ListFilter } from "./context.ts";
import type { CachedObjects } from "./definition.ts";
import type { Remark } from "./object-events.ts";
import type { Run } from "./run.ts";
import { type StatedStatus, setStatus } from "./status.ts";

type Shape = Record<keyof Context<Kind, Kind, readonly Grant[]>, unknown>;
type AnyObject = Stored<KubernetesObject>;

/** Methods are functions of their own, so that a reconciler may take them out: `({ get, list }) => …`. */
export class ReconcileContext implements Shape {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  readonly get = (kind: Kind, ref: ObjectRef) => this.#run.get(kind, ref);
  readonly list = (kind: Kind, filter?: ListFilter) => this.#run.list(kind, filter);
  readonly lookup = (index: Index, value: string) => this.#run.lookup(index, value);
  readonly applyChildren = (owner: AnyObject, children: readonly DesiredChild[], options?: ChildrenOptions) =>
    applyChildren(this.#run, owner, children, options);
  readonly setStatus = (object: AnyObject, status: StatedStatus) => setStatus(this.#run, object, status);
  readonly event = (object: AnyObject, remark: Remark) => this.#run.event(object, remark);
  readonly eventOn = (kind: Kind, object: AnyObject, remark: Remark) => this.#run.event(object, remark, kind);
  readonly note = (line: string) => this.#run.note(line);

  // Made when somebody asks: most reconciles find all in order in the caches.

  get cached(): CachedObjects {
    return this.#run.cached;
  }

  get client(): Client {
    return this.#run.client;
  }

  get log(): Logger {
    return this.#run.log;
  }

  get clock(): Clock {
    return this.#run.clock;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get failures(): number {
    return this.#run.failures;
  }
}
