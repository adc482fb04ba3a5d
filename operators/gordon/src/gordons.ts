// Keeps exactly as many gordons as requested. A pure function returns the desired children and the status. The runtime applies
// them, and calls the function again whenever a Gordon or one of its pods changes.
//
//     replicas 3, pod 0 ready, pod 1 failed    desired 0, 2       the failed pod is removed …
//     replicas 3, pods 0 and 2                 desired 0, 1, 2    … and created again once it is gone
//
// A pod belongs to a Gordon if its owner reference has the Gordon's UID; labels prove nothing. Owner references let the garbage
// collector remove all pods with the Gordon, whether or not the operator is running.
import {
  child,
  condition,
  declarative,
  done,
  isControlledBy,
  type Outcome,
  Pod,
  requeueAfter,
  type Seen,
  type Stored,
  type Wanted,
} from "@memhog/runtime";
import { Gordon } from "./api.ts";
import { hasEnded, isReady, podFor, replaceDelayMs, selectorOf } from "./pods.ts";

export interface GordonsOptions {
  /** Image of a gordon. */
  readonly image: string;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

export function gordons({ image, ...options }: GordonsOptions) {
  const decide = (gordon: Stored<Gordon>, seen: Observed) => decidePods(gordon, seen, image);
  const onTerminalError = ({ message }: Error, { status }: Stored<Gordon>) => ({
    ...{ replicas: 0, readyReplicas: 0, pods: [], ...status },
    conditions: [condition(Gordon, "Ready", "Stuck", message.slice(0, 1000))],
  });
  return declarative(Gordon, { owns: [Pod], watches: [{ kind: Pod, map: gordonNamedBy }], onTerminalError, ...options }, decide);
}

/** A pod with the name of a gordon may be in the way: when it is deleted, its Gordon is reconciled. */
function gordonNamedBy({ metadata: { namespace = "", name } }: Stored<Pod>) {
  const [, gordon] = /^gordon-(.+)-\d+$/.exec(name) ?? [];
  return gordon === undefined ? [] : [{ namespace, name: gordon }];
}

/** The desired children and the status, from what is observed. */
export function decidePods(gordon: Stored<Gordon>, seen: Observed, image: string): Wanted<typeof Gordon> {
  const { namespace = "", uid } = gordon.metadata;
  const ours = seen.children(Pod).filter((pod) => isControlledBy(pod, uid));
  const over = ours.filter((pod) => hasEnded(pod) && ordinalOf(pod) < gordon.spec.gordon.replicas);
  const replaced = over.filter((pod) => replaceDelayMs(pod, seen.now) <= 0);
  const all = Array.from({ length: gordon.spec.gordon.replicas }, (_, ordinal) => podFor(gordon, ordinal, image));
  const taken = all.filter(({ metadata: { name } }) => isForeign(seen.get(Pod, { namespace, name }), uid)).map(nameOf);
  // A child that is left out is removed, and created again once it is gone.
  const leftOut = new Set([...taken, ...replaced.map(nameOf)]);
  return {
    children: all.filter((pod) => !leftOut.has(nameOf(pod))).map((pod) => child(Pod, pod)),
    prune: [Pod],
    status: report(gordon, ours, taken),
    events: replaced.map((pod) => ({
      reason: "PodReplaced",
      message: `${nameOf(pod)} is ${pod.status?.phase}, and is made again`,
    })),
    outcome: requeue(over.map((pod) => replaceDelayMs(pod, seen.now)).filter((delayMs) => delayMs > 0)),
  };
}

type Observed = Seen<typeof Gordon | typeof Pod>;

const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name;

const isForeign = (pod: Stored<Pod> | undefined, uid: string) => pod !== undefined && !isControlledBy(pod, uid);

function requeue(delays: readonly number[]): Outcome {
  if (delays.length === 0) return done();
  return requeueAfter(Math.min(...delays), "a pod failed right after its start and is replaced after a delay");
}

function report(gordon: Stored<Gordon>, ours: readonly Stored<Pod>[], taken: readonly string[]) {
  const alive = ours.filter((pod) => !hasEnded(pod)).sort((a, b) => ordinalOf(a) - ordinalOf(b));
  const ready = alive.filter(isReady).length;
  const wanted = gordon.spec.gordon.replicas;
  const reason = reasonFor({ wanted, alive: alive.length, ready, taken: taken.length });
  const others = taken.length === 0 ? "" : `; not ours, but in the way: ${taken.slice(0, 5).join(", ")}`;
  return {
    replicas: alive.length,
    readyReplicas: ready,
    pods: alive.map(nameOf),
    selector: selectorOf(gordon),
    conditions: [condition(Gordon, "Ready", reason, `${ready} of ${wanted} gordons are ready${others}`)],
  };
}

const ordinalOf = ({ metadata }: Stored<Pod>) => Number(metadata.name.slice(metadata.name.lastIndexOf("-") + 1));

function reasonFor({ wanted, alive, ready, taken }: Readonly<Record<"wanted" | "alive" | "ready" | "taken", number>>) {
  if (taken > 0) return "NameTaken";
  if (alive < wanted) return "PodsMissing";
  if (alive > wanted) return "TooManyPods";
  return ready < wanted ? "PodsNotReady" : "AllPodsReady";
}
