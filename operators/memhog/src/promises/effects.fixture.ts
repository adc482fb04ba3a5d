// What operators did to the world, in words that can be compared: "POST pods", "PATCH pods/resize".
import type { AppMemory } from "../api/app-memory.ts";
import { isReady } from "./census.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import type { Said } from "./voice.fixture.ts";
import type { Running, World } from "./world.fixture.ts";

/** What was done to workloads, with how often; what only speaks about them (AppMemory, AppMonitor, Events) is left out. */
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

/** How the world is in the end, without what no two runs share: times, UIDs, names that chance made. */
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
    actions: actions.map((action) => `${action.road} ${action.reason} ${action.outcome}`),
  };
}
