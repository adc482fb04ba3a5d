// @memhog/runtime/controller: reconciles the objects of one kind.
export {
  absent,
  after,
  type Child,
  type ChildOptions,
  child,
  type DesiredChild,
  keep,
  type NamedChild,
  release,
} from "./controller/children.ts";
export type { CacheReader, Context, EventInput, ListFilter, StatusInput } from "./controller/context.ts";
export {
  type Controller,
  type ControllerDefinition,
  type ControllerOptions,
  controller,
  defineController,
  type EnqueueOptions,
  type Finalizer,
  type OwnedKind,
  type Predicate,
  type Source,
  type SourceContext,
  type Watch,
} from "./controller/controller.ts";
export { declarative, type Seen, type Wanted } from "./controller/declarative.ts";
export {
  AggregateChildError,
  AlreadyOwnedError,
  ControllerError,
  TerminalError,
  UnstableChildError,
} from "./controller/errors.ts";
export type { ReconcileRecord } from "./controller/explain.ts";
export { awaitChange, done, type Outcome, requeueAfter } from "./controller/outcome.ts";
