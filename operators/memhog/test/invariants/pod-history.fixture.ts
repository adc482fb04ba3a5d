// The history of pods, recorded from every watch event, so that short-lived states are included.
import type { Pod, Stored } from "@memhog/runtime";
import type { World } from "./world.fixture.ts";

export interface Census {
  /** The largest number of pods at the same time, not counting terminating pods. */
  readonly most: number;
  /** The smallest number of Ready pods at the same time, after the first became Ready. */
  readonly leastReady: number;
  /** OOM-killed containers. */
  readonly oomKills: number;
  /** Names of deleted pods. */
  readonly killed: ReadonlySet<string>;
  /** By pod name: the sizes it had, in order. */
  readonly limits: ReadonlyMap<string, readonly string[]>;
}

export interface CensusOptions {
  readonly namespace?: string;
}

/** Records from now on. */
export function census({ simulator }: Pick<World, "simulator">, { namespace = "default" }: CensusOptions = {}): Census {
  const { storage } = simulator.core;
  const present = new Map<string, Stored<Pod>>();
  const killed = new Set<string>();
  const limits = new Map<string, string[]>();
  const found = {
    most: 0,
    leastReady: Number.POSITIVE_INFINITY,
    limits,
    get oomKills() {
      return killed.size;
    },
    get killed() {
      return new Set([...killed].map((kill) => kill.slice(0, kill.indexOf("/"))));
    },
  };
  const look = (type: string, object: object) => {
    const pod = object as Stored<Pod>;
    if (type === "DELETED") present.delete(pod.metadata.uid);
    else present.set(pod.metadata.uid, pod);
    for (const kill of killsOf(pod)) killed.add(kill);
    noteLimit(limits, pod);
    const staying = [...present.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const ready = staying.filter(isReady).length;
    found.most = Math.max(found.most, staying.length);
    if (ready > 0 || found.leastReady < Number.POSITIVE_INFINITY) found.leastReady = Math.min(found.leastReady, ready);
  };
  const kind = { group: "", plural: "pods" };
  for (const object of storage.list(kind, { namespace }))
    present.set((object as unknown as Stored<Pod>).metadata.uid, object as never);
  storage.watch(kind, { namespace }, storage.version, ({ type, object }) => look(type, object));
  return found;
}

function noteLimit(limits: Map<string, string[]>, { metadata, spec }: Stored<Pod>): void {
  const limit = String(spec.containers[0]?.resources?.limits?.memory);
  const known = limits.get(metadata.name) ?? [];
  if (known.at(-1) !== limit) limits.set(metadata.name, [...known, limit]);
}

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;

/** Identifies an OOM kill by pod, container and restart count, so that each counts once. */
function killsOf({ metadata, status }: Stored<Pod>): readonly string[] {
  return (status?.containerStatuses ?? []).flatMap(({ name, state, lastState, restartCount = 0 }) => [
    ...(state?.terminated?.reason === "OOMKilled" ? [`${metadata.name}/${metadata.uid}/${name}/${restartCount}`] : []),
    ...(lastState?.terminated?.reason === "OOMKilled" ? [`${metadata.name}/${metadata.uid}/${name}/${restartCount - 1}`] : []),
  ]);
}
