// The effects of operators on workloads, in a comparable form: "POST pods", "PATCH pods/resize".
import type { AppMemory } from "../../src/api/app-memory.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { isReady } from "./pod-history.fixture.ts";
import type { Said } from "./recording-transport.fixture.ts";
import type { Running, World } from "./world.fixture.ts";

/** Counts successful writes to workloads. Writes of AppMemories, AppMonitors and Events do not count. */
export function effectsOf(operators: readonly Running[]): Readonly<Record<string, number>> {
  return effectsIn(operators.flatMap(({ voice }) => voice.said));
}

export function effectsIn(said: readonly Said[]): Readonly<Record<string, number>> {
  const all = said.filter(isEffect).map(inWords);
  return Object.fromEntries(all.toSorted().map((words) => [words, all.filter((each) => each === words).length]));
}

export const isEffect = ({ path, status }: Said): boolean =>
  !/\/(kubedemo\.com|events\.k8s\.io)\//.test(path) && status !== undefined && status < 300;

function inWords({ method, path }: Said): string {
  const [, plural = "", , subresource] = /\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path) ?? [];
  return `${method} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** The end state without the values that differ between runs: times, UIDs and generated names. */
export async function endOf(w: World, memory: string) {
  const pods = (await w.pods()).map((pod) => ({
    name: pod.metadata.name.replace(/-[a-z0-9]{8,10}-[a-z0-9]{5}$/, "-…"),
    size: sizeOf(pod),
    labels: Object.keys(pod.metadata.labels ?? {}).sort(),
    annotations: Object.keys(pod.metadata.annotations ?? {}).sort(),
    ready: isReady(pod),
    going: pod.metadata.deletionTimestamp !== undefined,
    restarts: pod.status?.containerStatuses?.[0]?.restartCount,
  }));
  return { pods, known: known((await w.memory(memory))?.status ?? {}) };
}

function known({
  phase,
  reason,
  learned = [],
  intents = [],
  actions = [],
  raises,
  stops = [],
}: NonNullable<AppMemory["status"]>) {
  return {
    ...{ phase, reason, raises, intents: intents.length, stops: stops.length },
    learned: learned.map(({ container, limit, request }) => `${container} ${request}/${limit}`),
    actions: actions.map((action) => `${action.method} ${action.reason} ${action.outcome}`),
  };
}
