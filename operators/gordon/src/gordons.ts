// Keeps exactly as many gordons as were asked for. A pure function says what should be; the runtime makes it so, and calls it
// again whenever a Gordon or one of its pods changes.
//
//     asked for 3, seen 0 ready, 1 failed          wanted 0, 2         the failed one is removed …
//     asked for 3, seen 0, 2                       wanted 0, 1, 2      … and made again when it is gone
//
// A pod is ours if its owner reference has the UID of our Gordon; labels prove nothing. What is removed is removed by UID, and
// owner references let Kubernetes remove all of them with the Gordon, whether or not we are running.
import {
  checkAgainIn,
  child,
  condition,
  declarative,
  done,
  isControlledBy,
  type Outcome,
  Pod,
  type Seen,
  type Stored,
  type Wanted,
} from "@memhog/runtime";
import { Gordon } from "./api.ts";
import { isOver, isReady, patienceWith, podFor, selectorOf } from "./pods.ts";

export interface GordonsOptions {
  /** What a gordon runs. */
  readonly image: string;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

/** The controller. */
export function gordons({ image, ...options }: GordonsOptions) {
  const decide = (gordon: Stored<Gordon>, seen: World) => decidePods(gordon, seen, image);
  const whenStuck = ({ message }: Error, { status }: Stored<Gordon>) => ({
    ...{ replicas: 0, readyReplicas: 0, pods: [], ...status },
    conditions: [condition(Gordon, "Ready", "Stuck", message.slice(0, 1000))],
  });
  return declarative(Gordon, { owns: [Pod], watches: [{ kind: Pod, map: whoseNameItHas }], whenStuck, ...options }, decide);
}

/** A foreign pod that goes makes room for ours. */
function whoseNameItHas({ metadata: { namespace = "", name } }: Stored<Pod>) {
  const [, gordon] = /^gordon-(.+)-\d+$/.exec(name) ?? [];
  return gordon === undefined ? [] : [{ namespace, name: gordon }];
}

/** What should be, given what is seen. */
export function decidePods(gordon: Stored<Gordon>, seen: World, image: string): Wanted<typeof Gordon> {
  const { namespace = "", uid } = gordon.metadata;
  const ours = seen.children(Pod).filter((pod) => isControlledBy(pod, uid));
  const over = ours.filter((pod) => isOver(pod) && ordinalOf(pod) < gordon.spec.gordon.replicas);
  const replaced = over.filter((pod) => patienceWith(pod, seen.now) <= 0);
  const all = Array.from({ length: gordon.spec.gordon.replicas }, (_, ordinal) => podFor(gordon, ordinal, image));
  const taken = all.filter(({ metadata: { name } }) => isForeign(seen.get(Pod, { namespace, name }), uid)).map(nameOf);
  // What is left out here is removed, and made again when it is gone.
  const leftOut = new Set([...taken, ...replaced.map(nameOf)]);
  return {
    children: all.filter((pod) => !leftOut.has(nameOf(pod))).map((pod) => child(Pod, pod)),
    status: report(gordon, ours, taken),
    events: replaced.map((pod) => ({ reason: "PodReplaced", note: `${nameOf(pod)} is ${pod.status?.phase}, and is made again` })),
    outcome: nextLook(over.map((pod) => patienceWith(pod, seen.now)).filter((patience) => patience > 0)),
  };
}

type World = Seen<typeof Gordon | typeof Pod>;

const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name;

const isForeign = (pod: Stored<Pod> | undefined, uid: string) => pod !== undefined && !isControlledBy(pod, uid);

function nextLook(patience: readonly number[]): Outcome {
  if (patience.length === 0) return done();
  return checkAgainIn(Math.min(...patience), "a pod failed right after its start; it is replaced, but not so fast");
}

function report(gordon: Stored<Gordon>, ours: readonly Stored<Pod>[], taken: readonly string[]) {
  const alive = ours.filter((pod) => !isOver(pod)).sort((a, b) => ordinalOf(a) - ordinalOf(b));
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
