// Plans: long work in steps, such as the upgrade of a database. A plan is a value; its progress is in the status of the object, so
// any replica of the operator continues after a crash.
//
//     const databases = defineController(Database, { owns: [Job, StatefulSet] });
//     const { plan, step, parallel, plans } = plansFor(databases);
//
//     const upgrade = plan("upgrade", [
//       step("back-up", {
//         apply: (db, _ctx, run) => [child(Job, dumpJob(db, run))],
//         doneWhen: (db, ctx, run) => jobDone(ctx.get(Job, dumpOf(db, run))),
//         timeoutMs: hours(1),
//       }),
//       parallel([step("primary", …), step("standbys", …)]),
//     ], { onChange: ["version"] });
//
//     const operations = plans([init, upgrade, backup, cleanup]);
//     // in the reconcile function: const { outcome } = await operations.advance(db, ctx);
//
// The rules:
//
// - An object runs one plan at a time. Of several that are triggered, the first in the list runs first; the others follow.
// - A step calls `doneWhen` first. If that is not met, it calls `apply` and `run`, and `doneWhen` again; it does so in every
//   reconcile until the condition is met. So a step must be idempotent: it derives the names of its objects from `run.id`.
// - The status says Running before a step does anything, and every write of it is a compare-and-swap.
// - An error is retried with a growing delay. A TerminalError, `failed(…)` or a missed deadline fails the plan for good: it runs
//   again when it is triggered again, never by itself.
// - Steps receive the current object. `run.values` are the values of the fields that triggered the run; they do not change during
//   the run. If such a field changes meanwhile, the plan runs again after this run (`whenChanged: "restart"`: instead of it).
// - The deletion of the object ends the running plan, and starts the plans with `onDelete`.
//
// The files: status.ts has the schema, progress.ts decides what follows (pure), executor.ts does it, explain.ts tells people.
import type { DesiredChild } from "../controller/children.ts";
import type { ControllerDefinition, Finalizer } from "../controller/controller.ts";
import { isDnsLabel, isQualifiedName } from "../objects/names.ts";
import type { Kind, KubernetesObject, ObjectOf, Stored } from "../objects/object.ts";
import type { StepCheck } from "./checks.ts";
import { cleanUp, executor, type Progress } from "./executor.ts";
import type { PlansStatus, Trigger } from "./status.ts";

/** An object with plans: its status includes `plans: plansStatus()`. */
export interface Planned extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly plans?: PlansStatus | undefined };
}

/** One run of a plan, as its steps see it. */
export interface PlanRun<Spec> {
  /** Unique among all runs of all objects, and part of a valid name: use it in the names of objects that belong to this run. */
  readonly id: string;
  /** 1 for the first run of the plan for this object. */
  readonly number: number;
  readonly trigger: Trigger;
  /** The value of the annotation that triggered the run; undefined for other triggers. */
  readonly annotation: string | undefined;
  /** The values of the fields in `onChange` when the run started. */
  readonly values: Partial<Spec>;
  /** The same values as of the last run that succeeded; before the first one, those that the object had at first. */
  readonly previous: Partial<Spec>;
}

/** What a step does. O: the object, C: the context, S: the spec. */
export interface StepOptions<O, C, S> {
  /** Objects to apply as children. They are not deleted when the step is done. */
  readonly apply?: (object: O, ctx: C, run: PlanRun<S>) => readonly DesiredChild[];
  /** Any other work. It must be idempotent. */
  readonly run?: (object: O, ctx: C, run: PlanRun<S>) => Promise<void>;
  /** Whether the step is done; it only reads. @default done when `apply` and `run` have succeeded */
  readonly doneWhen?: (object: O, ctx: C, run: PlanRun<S>) => boolean | StepCheck | Promise<boolean | StepCheck>;
  /** Milliseconds after which the step and its plan fail. @default no limit */
  readonly timeoutMs?: number;
  /** Milliseconds after which `doneWhen` is called again, for conditions that no watch reports. @default only after changes */
  readonly pollMs?: number;
}

export interface Step<O, C, S> extends StepOptions<O, C, S> {
  readonly kind: "step";
  readonly name: string;
}

/** Blocks that follow each other, or that run at the same time. */
export interface Phase<O, C, S> {
  readonly kind: "serial" | "parallel";
  readonly blocks: readonly Block<O, C, S>[];
}

export type Block<O, C, S> = Step<O, C, S> | Phase<O, C, S>;

/** When a plan runs. A plan without any trigger is rejected. */
export interface PlanOptions<S> {
  /** Runs once for every object. @default false */
  readonly onCreate?: boolean;
  /** Runs when one of these fields of the spec changes. The first values that are seen do not count as a change. */
  readonly onChange?: readonly (keyof S & string)[];
  /** Runs when this annotation gets a value that it did not have at the last run: `kubectl annotate db orders backup.example.com/now=2`. */
  readonly onAnnotation?: string;
  /** Runs when the object is deleted; needs `operations.finalizer(…)`. Such a plan ignores `onCreate` and `onChange`. @default false */
  readonly onDelete?: boolean;
  /** Milliseconds after which the plan fails. @default no limit */
  readonly timeoutMs?: number;
  /** What a change of an `onChange` field does to a run of this plan: run again afterwards, or at once from the first step. @default "finish" */
  readonly whenChanged?: "finish" | "restart";
}

export interface PlanDefinition<O, C, S> extends PlanOptions<S> {
  readonly name: string;
  readonly steps: Phase<O, C, S>;
}

/** The plans of a kind. */
export interface Operations<P extends Kind<Planned>, C> {
  /** Starts what is triggered, advances what is running and writes `status.plans`. Call it in the reconcile function. */
  advance(object: Stored<ObjectOf<P>>, ctx: C): Promise<Progress>;
  /** A finalizer that keeps a deleted object until the plans with `onDelete` have succeeded. */
  finalizer(name: string): Finalizer<P, C>;
}

/** The builders for the plans of one controller. */
export interface PlanBuilders<P extends Kind<Planned>, O, C, S> {
  step(name: string, options: StepOptions<O, C, S>): Step<O, C, S>;
  serial(blocks: readonly Block<O, C, S>[]): Phase<O, C, S>;
  parallel(blocks: readonly Block<O, C, S>[]): Phase<O, C, S>;
  /** A plan: its blocks follow each other. */
  plan(name: string, blocks: readonly Block<O, C, S>[], options: PlanOptions<S>): PlanDefinition<O, C, S>;
  /** All plans of the kind, the most urgent first. */
  plans(list: readonly PlanDefinition<O, C, S>[]): Operations<P, C>;
}

type BuildersFor<P extends Kind<Planned>, C> = PlanBuilders<P, Stored<ObjectOf<P>>, C, ObjectOf<P>["spec"]>;

/** The builders of plans for a controller: their steps receive its objects and its context. */
export function plansFor<P extends Kind<Planned>, C>(definition: ControllerDefinition<P, C>): BuildersFor<P, C> {
  const { kind } = definition;
  const builders: BuildersFor<P, C> = {
    step: (name, options) => ({ ...options, kind: "step", name }),
    serial: (blocks) => ({ kind: "serial", blocks }),
    parallel: (blocks) => ({ kind: "parallel", blocks }),
    plan: (name, blocks, options) => ({ ...options, name, steps: { kind: "serial", blocks } }),
    plans(list) {
      check(kind, list);
      const advance = executor(kind, list);
      return { advance, finalizer: (name) => ({ name, cleanUp: (object, ctx) => cleanUp(list, advance, object, ctx) }) };
    },
  };
  return builders;
}

type AnyPlan = PlanDefinition<never, never, never>;

/** All steps of a block, in order. */
export function stepsIn<O, C, S>(block: Block<O, C, S>): readonly Step<O, C, S>[] {
  return block.kind === "step" ? [block] : block.blocks.flatMap(stepsIn);
}

/** @throws TypeError for names that the status cannot hold, or that do not identify a step */
function check(kind: Kind, list: readonly AnyPlan[]): void {
  unique(`${kind.kind}: plans`, list.map(({ name }) => name)); // biome-ignore format: one line each
  for (const { name, steps, onAnnotation, ...plan } of list) {
    const names = stepsIn(steps).map((step) => step.name);
    expect(names.length > 0, `${kind.kind}, plan ${name}: expected at least one step, found none`);
    unique(`${kind.kind}, plan ${name}: steps`, names);
    const triggered = plan.onCreate || plan.onDelete || plan.onChange !== undefined || onAnnotation !== undefined;
    expect(triggered === true, `${kind.kind}, plan ${name}: expected onCreate, onChange, onAnnotation or onDelete, found none`);
    expect(onAnnotation === undefined || isQualifiedName(onAnnotation), `${kind.kind}, plan ${name}: expected onAnnotation to be the name of an annotation, found "${onAnnotation}"`); // biome-ignore format: a message
  }
}

function unique(what: string, names: readonly string[]): void {
  for (const name of names) expect(isDnsLabel(name), `${what}: expected names such as "back-up", found "${name}"`);
  expect(new Set(names).size === names.length, `${what}: expected different names, found ${names.join(", ")}`);
}

function expect(holds: boolean, message: string): void {
  if (!holds) throw new TypeError(message);
}
