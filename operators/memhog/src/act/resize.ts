// In place: PATCH pods/resize. A strategic merge by container name that says memory and nothing else, and carries the UID and the
// version of the pod that the decision was made about: the server refuses it for any other (409, 422).
//
// Burstable pods get their limits first: that needs no room on the node, so it is neither deferred nor refused for lack of it. The
// requests follow in a second step, and go back if the node has no room after all. Guaranteed pods must have both in one.
import { Pod } from "@memhog/runtime";
import type { Command } from "../model/plan.ts";
import { alreadySo, changed, done, isEnding, livePod } from "./live-pod.ts";
import { growth, type Part, takenBack } from "./more-memory.ts";
import type { Ending, Server } from "./outcome.ts";

type Resize = Extract<Command, { readonly do: "resize" }>;

const parts: Readonly<Record<Resize["step"], readonly Part[]>> = {
  limits: ["limits"],
  requests: ["requests"],
  both: ["limits", "requests"],
};

export async function resize(server: Server, namespace: string, { intent, resourceVersion, step }: Resize): Promise<Ending> {
  const { name, uid } = intent.pod;
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  const more = growth(pod.spec, intent.changes, parts[step]);
  const spec = more === undefined && step === "requests" ? takenBack(pod.spec, intent.changes) : more;
  // Before the version is looked at: after a lost answer it is ours that is new (promise C2).
  if (spec === undefined) return alreadySo(name);
  if (pod.metadata.resourceVersion !== resourceVersion) return changed(name);
  const body = { metadata: { uid, resourceVersion }, spec };
  await server.patch(Pod, { namespace, name }, { type: "strategic", body }, { subresource: "resize" });
  return done(`${step} of pod ${name} set`);
}
