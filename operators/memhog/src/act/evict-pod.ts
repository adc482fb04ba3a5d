// Where nobody replaces pods of an old template by itself, we ask for them to go, one by one: by the Eviction API, which asks the
// disruption budgets, and for the very pod in the very state that was seen (promise D1). That all others are ready, which
// without a budget nobody asks, was seen to by decide/.
import { evict } from "@memhog/runtime";
import type { Command } from "../model/plan.ts";
import { changed, done, isEnding, livePod } from "./live-pod.ts";
import type { Ending, Server } from "./outcome.ts";

type Evict = Extract<Command, { readonly do: "evict" }>;

export async function evictPod(server: Server, namespace: string, { name, uid, resourceVersion }: Evict): Promise<Ending> {
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  if (pod.metadata.resourceVersion !== resourceVersion) return changed(name);
  await evict(server, { namespace, name }, { uid, resourceVersion });
  return done(`pod ${name} evicted`);
}
