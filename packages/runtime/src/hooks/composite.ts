import { assemble, type Controller } from "../controller/controller.ts";
import { TerminalError } from "../controller/errors.ts";
import { done, type Outcome, requeueAfter } from "../controller/outcome.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import { findCondition, setCondition } from "../objects/condition.ts";
import type { Condition, LabelSelector } from "../objects/kinds/kind.ts";
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import { matches } from "../objects/selectors.ts";
import { seconds } from "../objects/time.ts";
import { allow } from "../schema/permissions.ts";
import { claimChildren, type Groups, orphanWatches } from "./claim.ts";
import { Customizer } from "./customize.ts";
import {
  type CompositeRequest,
  type CompositeResponse,
  type CustomizeRequest,
  type CustomizeResponse,
  callHook,
  compositeResponse,
  type Hook,
  type HookObject,
} from "./hook.ts";
import { type Desired, desiredObjects, generatedLabel, type HookVersion, objectMap, selectorOf, withType } from "./objects.ts";
import { finalizersOf, isSelected, type ParentObject, patchParent, replaceStatus, stageOf } from "./parent.ts";
import {
  atRevision,
  type ChildState,
  ControllerRevision,
  childKey,
  healthOf,
  nextRollout,
  patchOf,
  type Revision,
  type RollingChild,
  revisionName,
  storedRevisions,
  storeRevisions,
} from "./rollout.ts";
import { type ChildRule, differs, KnownChildren, type Parent, type UpdateMethod, updateChildren } from "./update.ts";

export interface CompositeOptions {
  /** Used in metrics and logs, as the field manager, and in the finalizer. */
  readonly name: string;
  readonly parent: {
    readonly kind: Kind;
    /** @default all objects */
    readonly labelSelector?: LabelSelector;
    /** The fields whose change is rolled out, for rolling updates. @default ["spec"] */
    readonly revisionHistory?: { readonly fieldPaths: readonly string[] };
  };
  /** The kinds of children, and how each is updated. */
  readonly children: readonly ChildRule[];
  /** The kinds that `customize` can select. Add Namespace for `namespaceSelector`. @default none */
  readonly related?: readonly Kind[];
  /** Select children by a label with the UID of the parent, instead of `spec.selector`. @default false */
  readonly generateSelector?: boolean;
  /** Seconds between calls of the hook if nothing changes. @default 3600 */
  readonly resyncPeriodSeconds?: number;
  readonly hooks: {
    /** How objects are named in requests. @default "v1" */
    readonly version?: HookVersion;
    readonly sync: Hook<CompositeRequest, CompositeResponse>;
    /** Called instead of `sync` before a parent is removed. */
    readonly finalize?: Hook<CompositeRequest, CompositeResponse>;
    readonly customize?: Hook<CustomizeRequest, CustomizeResponse>;
  };
}

type AnyObject = Stored<KubernetesObject>;

/** What a composite controller keeps between reconciles: nothing that a decision depends on. */
interface Composite extends CompositeOptions {
  readonly kinds: readonly Kind[];
  readonly rolls: boolean;
  readonly customizer: Customizer;
  readonly known: KnownChildren;
  readonly version: HookVersion;
  readonly finalizer: string;
  /** What a CompositeController object of metacontroller would contain. */
  readonly controllerObject: HookObject;
}

/**
 * A controller whose hook decides which children a parent has.
 *
 *     compositeController({
 *       name: "bluegreen-controller",
 *       parent: { kind: BlueGreenDeployment },
 *       children: [{ kind: Service, updateStrategy: { method: "InPlace" } }, { kind: ReplicaSet, updateStrategy: { method: "InPlace" } }],
 *       hooks: { sync: ({ parent, children }) => ({ status: { … }, children: [ … ] }) },
 *     })
 */
export function compositeController(options: CompositeOptions): Controller {
  const composite = compositeOf(options);
  const { name, parent, kinds, rolls, resyncPeriodSeconds } = composite;
  if (rolls && !parent.kind.namespaced)
    throw new TypeError(
      `${name}: expected a namespaced parent for rolling updates, found ${parent.kind.kind} → use Recreate or InPlace`,
    );
  return assemble(
    parent.kind,
    {
      name,
      owns: [...kinds, ...(rolls ? [ControllerRevision] : [])],
      watches: [...orphanWatches(composite), ...composite.customizer.watches()],
      permissions: [allow(parent.kind, "get", "patch")],
      ...(resyncPeriodSeconds !== undefined && { resyncMs: seconds(resyncPeriodSeconds) }),
    },
    (ref: ObjectRef, scope: ReconcileScope) => reconcile(composite, ref, scope),
  );
}

function compositeOf(options: CompositeOptions): Composite {
  const { name, parent, children, related = [], hooks } = options;
  const version = hooks.version ?? "v1";
  return {
    ...options,
    kinds: children.map(({ kind }) => kind),
    rolls: children.some(({ kind }) => isRolling(options, kind)),
    customizer: new Customizer({ hook: hooks.customize, kinds: related, version }),
    known: new KnownChildren(),
    version,
    finalizer: `metacontroller.io/compositecontroller-${name}`,
    controllerObject: {
      ...{ apiVersion: "metacontroller.k8s.io/v1alpha1", kind: "CompositeController", metadata: { name } },
      spec: {
        parentResource: { ...ruleOf(parent.kind), ...(parent.revisionHistory && { revisionHistory: parent.revisionHistory }) },
        childResources: children.map(({ kind, updateStrategy }) => ({
          ...ruleOf(kind),
          ...(updateStrategy && { updateStrategy }),
        })),
        generateSelector: options.generateSelector ?? false,
      },
    },
  };
}

export const ruleOf = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), resource: kind.plural });

const methodOf = ({ children }: CompositeOptions, kind: Kind): UpdateMethod =>
  children.find((rule) => rule.kind === kind)?.updateStrategy?.method ?? "OnDelete";

function isRolling(options: CompositeOptions, kind: Kind): boolean {
  const method = methodOf(options, kind);
  return method === "RollingInPlace" || method === "RollingRecreate";
}

async function reconcile(composite: Composite, ref: ObjectRef, scope: ReconcileScope): Promise<Outcome> {
  const { parent: rule, finalizer, hooks } = composite;
  const parent = scope.get(rule.kind, ref);
  if (parent === undefined) {
    composite.known.forget(keyOf(ref));
    composite.customizer.forget(ref);
    return done();
  }
  const stage = stageOf({
    selected: isSelected(rule, parent),
    deleting: parent.metadata.deletionTimestamp !== undefined,
    finalizer: parent.metadata.finalizers?.includes(finalizer) ?? false,
    finalizes: hooks.finalize !== undefined,
  });
  if (stage === "ignore") return done();
  if (stage === "sync" || stage === "finalize") return sync(composite, scope, parent, stage === "finalize");
  await patchParent(scope, parent, { metadata: finalizersOf(parent, finalizer, stage === "addFinalizer") });
  return requeueAfter(0, stage); // this copy is now older than our own write
}

async function sync(composite: Composite, scope: ReconcileScope, parent: ParentObject, finalizing: boolean): Promise<Outcome> {
  const { known, finalizer } = composite;
  const observed = await claimChildren(composite, scope, parent);
  const target = { scope, object: parent, known };
  const response = await desiredState(composite, target, observed, finalizing);
  let error: unknown;
  // A child that fails does not keep the status from being written.
  await updateChildren(target, observed, response.children, (kind) => methodOf(composite, kind)).catch((cause: unknown) => {
    error = cause;
  });
  const { generation } = parent.metadata;
  const status = { ...response.status, ...(generation !== undefined && { observedGeneration: generation }) };
  const updated = await replaceStatus(scope, parent, status);
  if (error !== undefined) throw error;
  if (finalizing && response.finalized && updated !== undefined)
    await patchParent(scope, updated, { metadata: finalizersOf(updated, finalizer, false) });
  return resyncAfter(response.resyncAfterSeconds);
}

export function resyncAfter(wait: number | null | undefined): Outcome {
  return wait != null && wait > 0 ? requeueAfter(seconds(wait), "resyncAfterSeconds of the hook") : done();
}

interface DesiredState {
  readonly status: HookObject;
  readonly children: readonly Desired[];
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

type Ask = (parent: HookObject) => Promise<DesiredState>;

/** What the hook wants. With rolling updates it is asked once for each revision in use. */
async function desiredState(composite: Composite, target: Parent, observed: Groups, finalizing: boolean): Promise<DesiredState> {
  const ask: Ask = (parent) => callSync(composite, target, observed, { parent, finalizing });
  const latest = await ask(withType(target.scope.kind, target.object));
  return composite.rolls ? rollOut(composite, target, { observed, latest, ask }) : latest;
}

/** Moves at most one child to the latest revision, and returns each child as its revision wants it. */
async function rollOut(
  composite: Composite,
  target: Parent,
  { observed, latest, ask }: { readonly observed: Groups; readonly latest: DesiredState; readonly ask: Ask },
): Promise<DesiredState> {
  const { scope, object: parent } = target;
  const { fieldPaths } = composite.parent.revisionHistory ?? { fieldPaths: ["spec"] };
  const now = withType(scope.kind, parent);
  const patch = patchOf(now, fieldPaths);
  const name = revisionName(parent, patch);
  const stored = storedRevisions(scope, parent);
  const older = stored.filter((revision) => revision.name !== name);
  const asked = await Promise.all(older.map((revision) => ask(atRevision(now, revision, fieldPaths))));
  const byAge = [...older, ...stored.filter((revision) => revision.name === name)]; // of two claims, the one of the latest counts
  const claimed = new Map(byAge.flatMap((revision) => revision.children.map((key) => [key, revision.name])));
  const rolling = await rollingChildren(composite, target, observed, latest.children);
  const { claims, condition } = nextRollout(name, rolling, claimed);
  await storeRevisions(scope, parent, withClaims([{ name, patch, children: [] }, ...older], claims));
  const ownRevision = (child: Desired) => asked[older.findIndex((revision) => revision.name === claims.get(keyOfChild(child)))];
  return {
    status: withCondition(latest.status, parent, condition, scope.clock.now()),
    children: latest.children.map((child) => ownRevision(child)?.children.find((other) => keyOfChild(other) === keyOfChild(child)) ?? child), // biome-ignore format: one expression
    resyncAfterSeconds: soonest([latest, ...asked]),
    finalized: [latest, ...asked].every(({ finalized }) => finalized),
  };
}

/** The revisions with the children that belong to each now: the latest, which is first, and older ones that are in use. */
function withClaims([latest, ...older]: readonly Revision[], claims: ReadonlyMap<string, string>): readonly Revision[] {
  const claim = (revision: Revision): Revision => ({
    ...revision,
    children: [...claims].filter(([, by]) => by === revision.name).map(([key]) => key),
  });
  return [...(latest === undefined ? [] : [claim(latest)]), ...older.map(claim).filter(({ children }) => children.length > 0)];
}

function withCondition(status: HookObject, parent: ParentObject, condition: Condition, nowMs: number): HookObject {
  const { conditions: before } = (parent.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const updated = findCondition(setCondition<Condition>(before, condition, nowMs), condition.type) ?? condition;
  const others = (status.conditions as readonly Condition[] | undefined)?.filter(({ type }) => type !== condition.type) ?? [];
  return { ...status, conditions: [...others, updated] };
}

function soonest(states: readonly DesiredState[]): number {
  const waits = states.map(({ resyncAfterSeconds }) => resyncAfterSeconds).filter((wait) => wait > 0);
  return waits.length === 0 ? 0 : Math.min(...waits);
}

const keyOfChild = ({ kind, object }: Desired) => childKey(kind, object.metadata.name);

/** The children that are rolled, in the order of the hook, as the latest revision sees them. */
async function rollingChildren(
  composite: Composite,
  target: Parent,
  observed: Groups,
  desired: readonly Desired[],
): Promise<readonly RollingChild[]> {
  const children: RollingChild[] = [];
  for (const child of desired) {
    const rule = composite.children.find(({ kind }) => kind === child.kind);
    if (rule === undefined || !isRolling(composite, child.kind)) continue;
    const actual = new Map(observed).get(child.kind)?.find(({ metadata }) => metadata.name === child.object.metadata.name);
    children.push({ key: keyOfChild(child), state: await stateOf(target, rule, child, actual) });
  }
  return children;
}

async function stateOf(target: Parent, rule: ChildRule, child: Desired, actual: AnyObject | undefined): Promise<ChildState> {
  if (actual === undefined || actual.metadata.deletionTimestamp !== undefined) return { kind: "missing" };
  return (await differs(target, child, actual)) ? { kind: "outdated" } : healthOf(actual, rule);
}

async function callSync(
  composite: Composite,
  { scope, object }: Parent,
  observed: Groups,
  { parent, finalizing }: { readonly parent: HookObject; readonly finalizing: boolean },
): Promise<DesiredState> {
  const { hooks, version, kinds, controllerObject, customizer, generateSelector = false } = composite;
  const asked = parent as ParentObject;
  const related = await customizer.related(scope, asked, controllerObject);
  const request: CompositeRequest = {
    controller: controllerObject,
    parent,
    children: objectMap(version, object, observed),
    related: objectMap(version, object, related),
    finalizing,
  };
  const call = { name: finalizing ? "finalize" : "sync", clock: scope.clock, signal: scope.signal };
  const hook = finalizing ? (hooks.finalize ?? hooks.sync) : hooks.sync;
  const response = await callHook<CompositeRequest, CompositeResponse>(hook, request, compositeResponse, call);
  const children = desiredObjects(object, kinds, response.children ?? []);
  return {
    status: response.status ?? {},
    children: children.map((child) => selectable(object, child, generateSelector)),
    resyncAfterSeconds: response.resyncAfterSeconds ?? 0,
    finalized: response.finalized ?? false,
  };
}

/** Adds the generated label, or checks that the selector of the parent selects the child: it would be released otherwise. */
function selectable(parent: ParentObject, { kind, object }: Desired, generate: boolean): Desired {
  const label = generate ? { [generatedLabel]: parent.metadata.uid } : {};
  const labels = { ...label, ...object.metadata.labels };
  if (!matches(selectorOf(parent, generate), labels))
    throw new TerminalError(
      `${kind.kind} ${object.metadata.name}: expected labels that the selector of ${parent.metadata.name} selects, found ${JSON.stringify(labels)}`,
    );
  return { kind, object: { ...object, metadata: { ...object.metadata, labels } } };
}
