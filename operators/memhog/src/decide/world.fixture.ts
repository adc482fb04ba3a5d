// A world small enough to be a value: it does what commands say as an API server would (by UID and resourceVersion, and at most
// once), and what a kubelet and the controllers would do after that. Good enough to run decide() to its end, and to crash it.
import { isDeepStrictEqual } from "node:util";
import type { Bytes } from "../model/bytes.ts";
import type { ObservedApp, ObservedContainer, ObservedPod, ObservedTemplate } from "../model/observed-app.ts";
import type { Change, Command, Intent, Plan } from "../model/plan.ts";
import { decide } from "./decide.ts";

/** The world after a command; the very same if the command had no effect: done before, or based on an old view. */
export function runCommand(world: ObservedApp, command: Command): ObservedApp {
  switch (command.do) {
    case "resize":
      return onPod(world, command.intent.pod.uid, (pod) =>
        pod.resourceVersion === command.resourceVersion ? resized(pod, command.intent, command.step) : pod,
      );
    case "createCopy":
      return created(world, command.intent, command.copy);
    case "deletePod":
      return onPod(world, command.uid, (pod) => (pod.deleting ? pod : touched({ ...pod, deleting: true })));
    case "evict":
      return onPod(world, command.uid, (pod) =>
        pod.deleting || pod.resourceVersion !== command.resourceVersion ? pod : touched({ ...pod, deleting: true }),
      );
    case "patchTemplate":
      return patched(world, command.changes, command.resourceVersion);
    case "restoreTemplate":
      return patched(
        world,
        command.changes.map(({ container, from, to }) => ({ container, from: to, to: from })),
        command.resourceVersion,
      );
  }
}

/** Things that happen by themselves, one at a time. */
export const happenings = {
  /** The kubelet confirms what the spec asks for. */
  confirmed: (world: ObservedApp): ObservedApp => onPods(world, confirm),
  /** What was being deleted is gone; a controller makes new pods from its template. */
  gone: (world: ObservedApp): ObservedApp => refill({ ...world, pods: world.pods.filter((pod) => !pod.deleting) }),
  ready: (world: ObservedApp): ObservedApp => onPods(world, (pod) => (pod.ready ? pod : touched({ ...pod, ready: true }))),
  rolledOut: (world: ObservedApp): ObservedApp => rollOut(world),
  deferred: (world: ObservedApp): ObservedApp => onPods(world, (pod) => pending(pod, "deferred")),
  infeasible: (world: ObservedApp): ObservedApp => onPods(world, (pod) => pending(pod, "infeasible")),
  /** The rollout exceeds its deadline. */
  stalled: (world: ObservedApp): ObservedApp =>
    world.template === undefined || world.template.rolledOut
      ? world
      : { ...world, template: { ...world.template, stalled: "late" } },
} as const;
export type Happening = keyof typeof happenings;

const untilQuiet: readonly Happening[] = ["confirmed", "gone", "ready", "rolledOut"];
/** Everything that is under way comes to its end. */
export const settled = (world: ObservedApp): ObservedApp => untilQuiet.reduce((sum, name) => happenings[name](sum), world);

export function onPod(world: ObservedApp, uid: string, change: (pod: ObservedPod) => ObservedPod): ObservedApp {
  return onPods(world, (pod) => (pod.uid === uid ? change(pod) : pod));
}

function onPods(world: ObservedApp, change: (pod: ObservedPod) => ObservedPod): ObservedApp {
  const pods = world.pods.map(change);
  return pods.every((pod, i) => pod === world.pods[i]) ? world : { ...world, pods };
}

const touched = (pod: ObservedPod): ObservedPod => ({ ...pod, resourceVersion: String(Number(pod.resourceVersion) + 1) });

function resized(pod: ObservedPod, intent: Intent, step: "limits" | "requests" | "both"): ObservedPod {
  return touched({
    ...pod,
    containers: pod.containers.map((container) => {
      const to = intent.changes.find((change) => change.container === container.name)?.to;
      if (to === undefined) return container;
      const limit = step === "requests" ? container.limit : to.limit;
      return { ...container, limit, request: step === "limits" ? container.request : (to.request ?? container.request) };
    }),
  });
}

function created(world: ObservedApp, intent: Intent, name: string): ObservedApp {
  const original = world.pods.find((pod) => pod.uid === intent.pod.uid);
  if (original === undefined || world.pods.some((pod) => pod.name === name)) return world;
  const copy: ObservedPod = {
    ...resized(original, intent, "both"),
    name,
    uid: `${original.uid}+`,
    createdAtMs: world.nowMs,
    ready: false,
    deleting: false,
    copyOf: original.uid,
    resize: { state: "none" },
  };
  const intents = world.record.intents.map((one) => (one.id === intent.id ? { ...one, copyUid: copy.uid } : one));
  return { ...world, pods: [...world.pods, freshly(copy)], record: { ...world.record, intents } };
}

/** Its containers have just been started: they were given what the spec asks for, and nobody was killed yet. */
function freshly(pod: ObservedPod): ObservedPod {
  const start = (one: ObservedContainer): ObservedContainer => ({
    ...confirmedOf(one),
    running: true,
    restarts: 0,
    oomKill: undefined,
  });
  return { ...pod, containers: pod.containers.map(start) };
}

const confirmedOf = (container: ObservedContainer): ObservedContainer => ({
  ...container,
  appliedLimit: container.limit,
  appliedRequest: container.request,
});

function confirm(pod: ObservedPod): ObservedPod {
  if (pod.containers.every((one) => one.appliedLimit === one.limit && one.appliedRequest === one.request)) return pod;
  return touched({ ...pod, containers: pod.containers.map(confirmedOf), resize: { state: "none" } });
}

function pending(pod: ObservedPod, state: "deferred" | "infeasible"): ObservedPod {
  const open = pod.containers.some((one) => one.appliedLimit !== one.limit || one.appliedRequest !== one.request);
  return open && pod.resize.state !== state ? touched({ ...pod, resize: { state } }) : pod;
}

function patched(world: ObservedApp, changes: readonly Change[], resourceVersion: string): ObservedApp {
  const { template } = world;
  if (template === undefined || template.resourceVersion !== resourceVersion) return world;
  const { stalled: _, ...rest } = template;
  return {
    ...world,
    template: {
      ...rest,
      resourceVersion: String(Number(resourceVersion) + 1),
      rolledOut: false,
      containers: template.containers.map((one) => {
        const to = changes.find((change) => change.container === one.name)?.to;
        return to === undefined ? one : { ...one, ...to };
      }),
    },
  };
}

function rollOut(world: ObservedApp): ObservedApp {
  const { template } = world;
  if (template === undefined || template.rolledOut || !template.replacesPods) return world;
  const pods = world.pods.map((pod) => fromTemplate(pod, template, world.nowMs));
  const { stalled: _, ...rest } = template;
  return { ...world, pods, template: { ...rest, rolledOut: true } };
}

/** Pods that were evicted come back, in the size of the template. */
function refill(world: ObservedApp): ObservedApp {
  const { template, pods } = world;
  const [model] = pods;
  if (template === undefined || model === undefined || pods.length >= template.replicas) return world;
  const fresh = { ...fromTemplate(model, template, world.nowMs), ready: false };
  const named = {
    ...fresh,
    uid: `${fresh.uid}/${pods.length}`,
    name: `${model.name}-${template.resourceVersion}-${pods.length}`,
  };
  return refill({ ...world, pods: [...pods, named] });
}

function fromTemplate(pod: ObservedPod, template: ObservedTemplate, nowMs: number): ObservedPod {
  const asked = (name: string): { limit?: Bytes | undefined; request?: Bytes | undefined } =>
    template.containers.find((one) => one.name === name) ?? {};
  const containers = pod.containers.map((one) => ({ ...one, ...asked(one.name), name: one.name }));
  const uid = `${pod.uid}.${template.resourceVersion}`;
  return freshly({ ...pod, uid, createdAtMs: nowMs, containers, ready: true, deleting: false, resize: { state: "none" } });
}

// Runs decide() against the small world, as the operator does: store the record, then carry out the commands; and counts what had
// an effect. A crash is a pass that stops after so many of its writes.

export interface Run {
  readonly world: ObservedApp;
  /** What had an effect, in order: "resize limits", "createCopy", … */
  readonly effects: readonly string[];
}

/** One pass; only the first `writes` of its writes are made: the record first, then the commands. */
export function pass(run: Run, writes = Number.POSITIVE_INFINITY): Run & { readonly plan: Plan } {
  const plan = decide(run.world);
  if (writes < 1) return { ...run, plan };
  const stored = { ...run, world: { ...run.world, record: plan.record } };
  return { ...plan.commands.slice(0, writes - 1).reduce(execute, stored), plan };
}

function execute({ world, effects }: Run, command: Command): Run {
  const next = runCommand(world, command);
  return { world: next, effects: next === world ? effects : [...effects, textOf(command)] };
}

function textOf(command: Command): string {
  if (command.do === "resize") return `resize ${command.step}`;
  return command.do === "deletePod" ? `deletePod ${command.why}` : command.do;
}

/** Time passes, and nothing is measured meanwhile. */
export function later(run: Run, ms: number): Run {
  const { nowMs, pods } = run.world;
  const aged = (one: ObservedContainer): ObservedContainer => ({
    ...one,
    samples: one.samples.map((sample) => ({ ...sample, ageMs: sample.ageMs + ms })),
  });
  return {
    ...run,
    world: { ...run.world, nowMs: nowMs + ms, pods: pods.map((pod) => ({ ...pod, containers: pod.containers.map(aged) })) },
  };
}

/** Pass after pass, a second apart, until nothing happens any more. `crashes[i]`: how many writes pass i makes. */
export function runToEnd(start: ObservedApp, crashes: readonly number[] = []): Run {
  let run: Run = { world: start, effects: [] };
  for (let i = 0; i < 60; i++) {
    const before = run;
    run = pass(run, crashes[i]);
    run = { ...run, world: settled(run.world) };
    if (i >= crashes.length && sameWorld(before.world, run.world)) return { world: run.world, effects: run.effects };
    run = later(run, 1_000);
  }
  throw new Error("no end after 60 passes");
}

const sameWorld = (a: ObservedApp, b: ObservedApp): boolean => isDeepStrictEqual({ ...a, nowMs: 0 }, { ...b, nowMs: 0 });
