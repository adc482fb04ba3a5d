// Room that is spoken for. A raise that was decided, but is not in the spec yet, is in no quota's `used` and in no node's sum of
// requests; whoever is judged next must not be given the same room once more.
import type { Memory } from "../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";

export interface Promised {
  readonly uid: string;
  readonly container: string;
  readonly node: string | undefined;
  /** Bytes beyond what the spec has. */
  readonly limit: number;
  readonly request: number;
}

export function promiseOf(pod: PodSeen, container: ContainerSeen, to: Memory): Promised {
  return {
    uid: pod.uid,
    container: container.name,
    node: pod.node?.name,
    limit: Math.max(0, to.limit - (container.limit ?? 0)),
    request: Math.max(0, (to.request ?? 0) - (container.request ?? 0)),
  };
}

/** By the open intents of the app. Only in place: a template or a copy asks for its room when its new pods are admitted. */
export function promisedBy(seen: AppSeen): readonly Promised[] {
  return seen.record.intents
    .filter(({ road }) => road === "InPlace")
    .flatMap((intent) => {
      const pod = seen.pods.find(({ uid }) => uid === intent.pod.uid);
      return intent.changes.flatMap(({ container: name, to }) => {
        const container = pod?.containers.find((each) => each.name === name);
        return pod && container ? [promiseOf(pod, container, to)] : [];
      });
    });
}
