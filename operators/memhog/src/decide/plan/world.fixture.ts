// A world small enough to be a value: it does what commands say as an API server would (by UID and resourceVersion, and at most
// once), and what a kubelet and the controllers would do after that. Good enough to run decide() to its end, and to crash it.
import type { Bytes } from "../../model/bytes.ts";
import type { Command } from "../../model/plan.ts";
import type { Change, Intent } from "../../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen, TemplateSeen } from "../../model/seen.ts";

/** The world after a command; the very same if the command had no effect: done before, or based on an old view. */
export function obey(world: AppSeen, command: Command): AppSeen {
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
  }
}

/** Things that happen by themselves, one at a time. */
export const happenings = {
  /** The kubelet confirms what the spec asks for. */
  confirmed: (world: AppSeen): AppSeen => onPods(world, confirm),
  /** What was being deleted is gone; a controller makes new pods from its template. */
  gone: (world: AppSeen): AppSeen => refill({ ...world, pods: world.pods.filter((pod) => !pod.deleting) }),
  ready: (world: AppSeen): AppSeen => onPods(world, (pod) => (pod.ready ? pod : touched({ ...pod, ready: true }))),
  rolledOut: (world: AppSeen): AppSeen => rollOut(world),
  deferred: (world: AppSeen): AppSeen => onPods(world, (pod) => pending(pod, "deferred")),
  infeasible: (world: AppSeen): AppSeen => onPods(world, (pod) => pending(pod, "infeasible")),
} as const;
export type Happening = keyof typeof happenings;

const untilQuiet: readonly Happening[] = ["confirmed", "gone", "ready", "rolledOut"];
/** Everything that is under way comes to its end. */
export const settled = (world: AppSeen): AppSeen => untilQuiet.reduce((sum, name) => happenings[name](sum), world);

export function onPod(world: AppSeen, uid: string, change: (pod: PodSeen) => PodSeen): AppSeen {
  return onPods(world, (pod) => (pod.uid === uid ? change(pod) : pod));
}

function onPods(world: AppSeen, change: (pod: PodSeen) => PodSeen): AppSeen {
  const pods = world.pods.map(change);
  return pods.every((pod, i) => pod === world.pods[i]) ? world : { ...world, pods };
}

const touched = (pod: PodSeen): PodSeen => ({ ...pod, resourceVersion: String(Number(pod.resourceVersion) + 1) });

function resized(pod: PodSeen, intent: Intent, step: "limits" | "requests" | "both"): PodSeen {
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

function created(world: AppSeen, intent: Intent, name: string): AppSeen {
  const original = world.pods.find((pod) => pod.uid === intent.pod.uid);
  if (original === undefined || world.pods.some((pod) => pod.name === name)) return world;
  const copy: PodSeen = {
    ...resized(original, intent, "both"),
    name,
    uid: `${original.uid}+`,
    createdAtMs: world.nowMs,
    ready: false,
    deleting: false,
    copyOf: original.uid,
    resize: { state: "none" },
  };
  return { ...world, pods: [...world.pods, freshly(copy)] };
}

/** Its containers have just been started: they were given what the spec asks for, and nobody was killed yet. */
function freshly(pod: PodSeen): PodSeen {
  const start = (one: ContainerSeen): ContainerSeen => ({ ...confirmedOf(one), running: true, restarts: 0, oomKill: undefined });
  return { ...pod, containers: pod.containers.map(start) };
}

const confirmedOf = (container: ContainerSeen): ContainerSeen => ({
  ...container,
  appliedLimit: container.limit,
  appliedRequest: container.request,
});

function confirm(pod: PodSeen): PodSeen {
  if (pod.containers.every((one) => one.appliedLimit === one.limit && one.appliedRequest === one.request)) return pod;
  return touched({ ...pod, containers: pod.containers.map(confirmedOf), resize: { state: "none" } });
}

function pending(pod: PodSeen, state: "deferred" | "infeasible"): PodSeen {
  const open = pod.containers.some((one) => one.appliedLimit !== one.limit || one.appliedRequest !== one.request);
  return open && pod.resize.state !== state ? touched({ ...pod, resize: { state } }) : pod;
}

function patched(world: AppSeen, changes: readonly Change[], resourceVersion: string): AppSeen {
  const { template } = world;
  if (template === undefined || template.resourceVersion !== resourceVersion) return world;
  return {
    ...world,
    template: {
      ...template,
      resourceVersion: String(Number(resourceVersion) + 1),
      rolledOut: false,
      containers: template.containers.map((one) => {
        const to = changes.find((change) => change.container === one.name)?.to;
        return to === undefined ? one : { ...one, ...to };
      }),
    },
  };
}

function rollOut(world: AppSeen): AppSeen {
  const { template } = world;
  if (template === undefined || template.rolledOut || !template.replacesPods) return world;
  const pods = world.pods.map((pod) => fromTemplate(pod, template, world.nowMs));
  return { ...world, pods, template: { ...template, rolledOut: true } };
}

/** Pods that were evicted come back, in the size of the template. */
function refill(world: AppSeen): AppSeen {
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

function fromTemplate(pod: PodSeen, template: TemplateSeen, nowMs: number): PodSeen {
  const asked = (name: string): { limit?: Bytes | undefined; request?: Bytes | undefined } =>
    template.containers.find((one) => one.name === name) ?? {};
  const containers = pod.containers.map((one) => ({ ...one, ...asked(one.name), name: one.name }));
  const uid = `${pod.uid}.${template.resourceVersion}`;
  return freshly({ ...pod, uid, createdAtMs: nowMs, containers, ready: true, deleting: false, resize: { state: "none" } });
}
