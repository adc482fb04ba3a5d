// The end of a replacement: the original goes because its bigger copy is Ready, or the copy goes because it never became so. Both
// are looked at once more, live; deleted is by UID and version. So there is never none, and never two for long (promises C4, D2).
//
// Not by eviction: a budget counts pods that can serve, and the one that takes over is Ready before this one goes. For bare
// pods a budget with maxUnavailable allows no eviction at all, ever, and both would stay.
import { hasCondition, Pod, type Stored } from "@memhog/runtime";
import { copyOfLabel } from "../api/names.ts";
import type { Command } from "../model/plan.ts";
import { done, isEnding, livePod } from "./live-pod.ts";
import type { Ending, Server } from "./outcome.ts";

type DeletePod = Extract<Command, { readonly do: "deletePod" }>;

export async function deletePod(server: Server, namespace: string, command: DeletePod): Promise<Ending> {
  const { name, uid, why } = command;
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  const objection = why === "Replaced" ? await keepOriginal(server, namespace, command) : keepCopy(pod, command);
  if (objection !== undefined) return { ended: "changed", detail: objection };
  await server.delete(Pod, { namespace, name }, { uid, resourceVersion: pod.metadata.resourceVersion });
  return done(`pod ${name} deleted: ${why}`);
}

async function keepOriginal(server: Server, namespace: string, { intent, uid }: DeletePod): Promise<string | undefined> {
  const name = intent.copy;
  if (uid !== intent.pod.uid || name === undefined) return "it is not the pod that was copied";
  const copy = await server.find(Pod, { namespace, name });
  if (copy === undefined || !isCopyOf(copy, uid)) return `its copy ${name} is not there`;
  const serves = isReady(copy) && copy.metadata.deletionTimestamp === undefined;
  return serves ? undefined : `its copy ${name} is not Ready`;
}

function keepCopy(pod: Stored<Pod>, { intent }: DeletePod): string | undefined {
  if (!isCopyOf(pod, intent.pod.uid)) return `${pod.metadata.name} is not the copy that was made`;
  return isReady(pod) ? `${pod.metadata.name} is Ready by now` : undefined;
}

const isCopyOf = ({ metadata }: Stored<Pod>, uid: string) => metadata.labels?.[copyOfLabel] === uid;

const isReady = ({ status }: Stored<Pod>) => hasCondition(status?.conditions, "Ready");
