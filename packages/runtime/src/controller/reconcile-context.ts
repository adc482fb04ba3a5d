// A run as its reconciler sees it. One is made for every reconcile, so all of them share their getters: those of an object literal
// are made anew each time, and V8 keeps getters with its old objects, until the next full collection and with all that they hold
// (3 KB for every reconcile of an object that needed nothing).
import type { Index } from "../cache/object-index.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import { applyChildren, type ChildrenOptions, type DesiredChild } from "./children.ts";
import type { Context, ListFilter } from "./context.ts";
import type { Remark } from "./object-events.ts";
import type { Run } from "./run.ts";
import { type StatedStatus, setStatus } from "./status.ts";

type Shape = Record<keyof Context<Kind, Kind, readonly Grant[]>, unknown>;
type AnyObject = Stored<KubernetesObject>;

/** Made when somebody asks: most reconciles find all in order in the caches. */
const lazy = ["cached", "client", "log", "clock", "signal", "failures"] as const satisfies readonly (keyof Run & keyof Shape)[];

/** It may be taken apart, `({ get, client }) => …`, and copied, `{ ...ctx }`: all that it has is its own. */
export class ReconcileContext implements Omit<Shape, (typeof lazy)[number]> {
  static readonly #lazily = Object.fromEntries(lazy.map((name) => [name, ReconcileContext.#getter(name)]));
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
    Object.defineProperties(this, ReconcileContext.#lazily);
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

  static #getter(name: (typeof lazy)[number]): PropertyDescriptor {
    return {
      enumerable: true,
      get(this: ReconcileContext) {
        return this.#run[name];
      },
    };
  }
}
