// decoratorController: adds labels, annotations and attached objects to objects that have a controller of their own. See hook.ts.
import { assemble, type Controller } from "../controller/controller.ts";
import { done, type Outcome, requeueAfter } from "../controller/outcome.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import { isControlledBy, type Kind, keyOf, type ObjectRef } from "../objects/object.ts";
import { seconds } from "../objects/time.ts";
import { allow } from "../schema/permissions.ts";
import { resyncAfter, ruleOf } from "./composite.ts";
import { Customizer } from "./customize.ts";
import {
  type CustomizeRequest,
  type CustomizeResponse,
  callHook,
  type DecoratorRequest,
  type DecoratorResponse,
  decoratorResponse,
  type Hook,
  type HookObject,
} from "./hook.ts";
import { type Desired, desiredObjects, type HookVersion, objectMap, withType } from "./objects.ts";
import {
  finalizersOf,
  isSelected,
  type ParentObject,
  type ParentSelector,
  patchParent,
  replaceStatus,
  stageOf,
} from "./parent.ts";
import { KnownChildren, type UpdateMethod, type UpdateStrategy, updateChildren } from "./update.ts";

/** A kind of objects to decorate. */
export interface DecoratedResource extends ParentSelector {
  readonly kind: Kind;
}

/** A kind of objects to attach. Rolling methods do not exist here. */
export interface AttachmentRule {
  readonly kind: Kind;
  readonly updateStrategy?: {
    readonly method?: Exclude<UpdateStrategy["method"], "RollingRecreate" | "RollingInPlace" | undefined>;
  };
}

export interface DecoratorOptions {
  /** Used in metrics and logs, as the field manager, in the finalizer, and in an annotation of attachments. */
  readonly name: string;
  readonly resources: readonly DecoratedResource[];
  /** The kinds of attachments, and how each is updated. @default none */
  readonly attachments?: readonly AttachmentRule[];
  /** The kinds that `customize` can select. @default none */
  readonly related?: readonly Kind[];
  /** Seconds between calls of the hook if nothing changes. @default 3600 */
  readonly resyncPeriodSeconds?: number;
  readonly hooks: {
    /** How objects are named in requests. @default "v1" */
    readonly version?: HookVersion;
    readonly sync: Hook<DecoratorRequest, DecoratorResponse>;
    /** Called instead of `sync` before an object is removed, or when it is no longer selected. */
    readonly finalize?: Hook<DecoratorRequest, DecoratorResponse>;
    readonly customize?: Hook<CustomizeRequest, CustomizeResponse>;
  };
}

/** The decorator of one kind. */
interface Decorator extends DecoratorOptions {
  readonly resource: DecoratedResource;
  readonly customizer: Customizer;
  readonly known: KnownChildren;
  readonly version: HookVersion;
  readonly finalizer: string;
  readonly controllerObject: HookObject;
}

/** The annotation that tells which decorator has attached an object. */
const attachedBy = "metacontroller.k8s.io/decorator-controller";

/**
 * Controllers, one for each kind, whose hook adds to existing objects.
 *
 *     controllers: decoratorController({
 *       name: "service-per-pod",
 *       resources: [{ kind: StatefulSet, annotationSelector: { matchExpressions: [{ key: "service-per-pod", operator: "Exists" }] } }],
 *       attachments: [{ kind: Service }],
 *       hooks: { sync: ({ object }) => ({ attachments: [ … ] }) },
 *     })
 */
export function decoratorController(options: DecoratorOptions): readonly Controller[] {
  const { name, attachments = [], related = [], hooks, resources, resyncPeriodSeconds } = options;
  const version = hooks.version ?? "v1";
  const spec = {
    resources: resources.map(({ kind, ...selectors }) => ({ ...ruleOf(kind), ...selectors })),
    attachments: attachments.map(({ kind, updateStrategy }) => ({ ...ruleOf(kind), ...(updateStrategy && { updateStrategy }) })),
  };
  const metadata = { name };
  const controllerObject = { apiVersion: "metacontroller.k8s.io/v1alpha1", kind: "DecoratorController", metadata, spec };
  return resources.map((resource) => {
    const customizer = new Customizer({ hook: hooks.customize, kinds: related, version });
    const finalizer = `metacontroller.io/decoratorcontroller-${name}`;
    const decorator: Decorator = {
      ...options,
      resource,
      customizer,
      known: new KnownChildren(),
      version,
      finalizer,
      controllerObject,
    };
    return assemble(
      resource.kind,
      {
        name: resources.length === 1 ? name : `${name}-${resource.kind.plural}`,
        owns: attachments.map(({ kind }) => kind),
        watches: customizer.watches(),
        permissions: [allow(resource.kind, "patch")],
        ...(resyncPeriodSeconds !== undefined && { resyncMs: seconds(resyncPeriodSeconds) }),
      },
      (ref: ObjectRef, scope: ReconcileScope) => reconcile(decorator, ref, scope),
    );
  });
}

async function reconcile(decorator: Decorator, ref: ObjectRef, scope: ReconcileScope): Promise<Outcome> {
  const { resource, finalizer, hooks } = decorator;
  const object = scope.get(resource.kind, ref);
  if (object === undefined) {
    decorator.known.forget(keyOf(ref));
    decorator.customizer.forget(ref);
    return done();
  }
  const stage = stageOf({
    selected: isSelected(resource, object),
    deleting: object.metadata.deletionTimestamp !== undefined,
    finalizer: object.metadata.finalizers?.includes(finalizer) ?? false,
    finalizes: hooks.finalize !== undefined,
  });
  if (stage === "ignore") return done();
  if (stage === "sync" || stage === "finalize") return sync(decorator, scope, object, stage === "finalize");
  await patchParent(scope, object, { metadata: finalizersOf(object, finalizer, stage === "addFinalizer") });
  return requeueAfter(0, stage); // this copy is now older than our own write
}

async function sync(decorator: Decorator, scope: ReconcileScope, object: ParentObject, finalizing: boolean): Promise<Outcome> {
  const { attachments = [], known, finalizer } = decorator;
  const kinds = attachments.map(({ kind }) => kind);
  const observed = kinds.map((kind) => [kind, attachedObjects(decorator, scope, kind, object)] as const);
  const response = await callSync(decorator, scope, object, { observed, finalizing });
  const desired = desiredObjects(object, kinds, response.attachments ?? []).map((child) => marked(child, decorator.name));
  const status = response.status == null ? object : await replaceStatus(scope, object, response.status);
  if (status === undefined) return done(); // it is gone
  const decorated = await decorate(scope, status, response);
  const methodOf = (kind: Kind): UpdateMethod =>
    attachments.find((rule) => rule.kind === kind)?.updateStrategy?.method ?? "OnDelete";
  await updateChildren({ scope, object, known }, observed, desired, methodOf);
  if (finalizing && response.finalized && decorated !== undefined)
    await patchParent(scope, decorated, { metadata: finalizersOf(decorated, finalizer, false) });
  return resyncAfter(response.resyncAfterSeconds);
}

/** Only what this decorator has attached: the object may control others. */
function attachedObjects({ name }: Decorator, { list }: ReconcileScope, kind: Kind, owner: ParentObject) {
  return list(kind, { ownedBy: owner }).filter(
    (child) => isControlledBy(child, owner.metadata.uid) && child.metadata.annotations?.[attachedBy] === name,
  );
}

function marked({ kind, object }: Desired, name: string): Desired {
  const annotations = { ...object.metadata.annotations, [attachedBy]: name };
  return { kind, object: { ...object, metadata: { ...object.metadata, annotations } } };
}

async function callSync(
  { hooks, version, controllerObject, customizer }: Decorator,
  scope: ReconcileScope,
  object: ParentObject,
  { observed, finalizing }: { readonly observed: Parameters<typeof objectMap>[2]; readonly finalizing: boolean },
): Promise<DecoratorResponse> {
  const related = await customizer.related(scope, object, controllerObject);
  const request: DecoratorRequest = {
    controller: controllerObject,
    object: withType(scope.kind, object),
    attachments: objectMap(version, object, observed),
    related: objectMap(version, object, related),
    finalizing,
  };
  const call = { name: finalizing ? "finalize" : "sync", clock: scope.clock, signal: scope.signal };
  const hook = finalizing ? (hooks.finalize ?? hooks.sync) : hooks.sync;
  return callHook<DecoratorRequest, DecoratorResponse>(hook, request, decoratorResponse, call);
}

/** Sets labels and annotations that differ; null removes one. */
async function decorate(
  scope: ReconcileScope,
  object: ParentObject,
  response: DecoratorResponse,
): Promise<ParentObject | undefined> {
  const labels = changed(object.metadata.labels, response.labels);
  const annotations = changed(object.metadata.annotations, response.annotations);
  if (labels === undefined && annotations === undefined) return object;
  return patchParent(scope, object, { metadata: { ...(labels && { labels }), ...(annotations && { annotations }) } });
}

function changed(before: Readonly<Record<string, string>> = {}, wanted: DecoratorResponse["labels"]): object | undefined {
  const entries = Object.entries(wanted ?? {}).filter(([name, value]) => (before[name] ?? null) !== value);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
