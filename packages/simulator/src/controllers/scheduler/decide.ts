// Where a pod goes, or why nowhere.
import type { Node, Pod, Stored } from "@memhog/runtime";
import { type Refusal, type Room, refusalOf } from "./node-fit.ts";
import { type Amounts, amountsIn } from "./requests.ts";

export type Placement =
  | { readonly kind: "bind"; readonly node: Stored<Node> }
  /** In the words of `kubectl describe pod`. */
  | { readonly kind: "wait"; readonly message: string };

/** Pods of others ask for something we would have to guess at: it is refused in plain words instead. */
export function notKnownHere({ spec }: Stored<Pod>): string | undefined {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const spreads = spec.topologySpreadConstraints?.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const asked = [
    ...(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ? ["required podAffinity"] : []),
    ...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ? ["required podAntiAffinity"] : []),
    ...(spreads ? ["topologySpreadConstraints with DoNotSchedule"] : []),
  ];
  return asked.length === 0 ? undefined : `the simulator's scheduler does not implement ${asked.join(", ")}`;
}

/** The emptiest of the nodes that take the pod. */
export function decidePlacement(pod: Stored<Pod>, requests: Amounts, rooms: readonly Room[]): Placement {
  const unknown = notKnownHere(pod);
  if (unknown !== undefined) return { kind: "wait", message: unknown };
  if (rooms.length === 0) return { kind: "wait", message: "no nodes available to schedule pods" };
  const refusals: Refusal[] = [];
  const fitting: Room[] = [];
  for (const room of rooms) {
    const refusal = refusalOf(pod, requests, room);
    if (refusal === undefined) fitting.push(room);
    else refusals.push(refusal);
  }
  const [best] = fitting.map((room) => ({ room, left: leftIn(room, requests) })).sort(byRoom);
  return best === undefined ? { kind: "wait", message: describe(refusals) } : { kind: "bind", node: best.room.node };
}

/** Most of it left first; then the fewest pods; then by name, so that the same world always gives the same answer. */
function byRoom(a: Rated, b: Rated): number {
  const inOrder = a.room.node.metadata.name < b.room.node.metadata.name;
  return b.left - a.left || a.room.pods - b.room.pods || (inOrder ? -1 : 1);
}

interface Rated {
  readonly room: Room;
  readonly left: number;
}

/** What would be left, as a share: the mean of cpu and memory, in whole percent as the real one counts. */
function leftIn({ node, taken }: Room, requests: Amounts): number {
  const { cpu = 0, memory = 0 } = amountsIn(node.status?.allocatable);
  const share = (all: number, used: number) => (all === 0 ? 0 : Math.floor(((all - used) * 100) / all));
  return Math.floor((share(cpu, taken.cpu + requests.cpu) + share(memory, taken.memory + requests.memory)) / 2);
}

/** "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: …" */
function describe(refusals: readonly Refusal[]): string {
  const none = `0/${refusals.length} nodes are available:`;
  const helped = refusals.map(({ curable }) =>
    curable ? "No preemption victims found for incoming pod" : "Preemption is not helpful for scheduling",
  );
  return `${none} ${counted(refusals.flatMap(({ reasons }) => reasons))}. preemption: ${none} ${counted(helped)}.`;
}

function counted(reasons: readonly string[]): string {
  return [...Map.groupBy(reasons, (reason) => reason)]
    .map(([reason, all]) => `${all.length} ${reason}`)
    .sort()
    .join(", ");
}
