// The last look before a pod is touched. Caches may be old; whether the pod is still the one that was meant, still wants to be
// looked after and is not on its way out is asked of the server itself (promises E4, W1, W4).
import { ConflictError, type ObjectRef, Pod, type Stored } from "@memhog/runtime";
import { monitorAnnotation } from "../api/names.ts";
import type { Ending, Server } from "./outcome.ts";

/** The whole pod as it is now, or why it is left alone. */
export async function livePod(server: Server, ref: ObjectRef, uid: string): Promise<Stored<Pod> | Ending> {
  const pod = await server.find(Pod, ref);
  return pod === undefined ? { ended: "gone", detail: `pod ${ref.name} is gone` } : (whyNot(pod, uid) ?? pod);
}

function whyNot({ metadata }: Stored<Pod>, uid: string): Ending | undefined {
  const { name, annotations } = metadata;
  if (metadata.uid !== uid) return { ended: "gone", detail: `pod ${name} is another one by now` };
  if (metadata.deletionTimestamp !== undefined) return { ended: "gone", detail: `pod ${name} is being deleted` };
  if (annotations?.[monitorAnnotation] !== "true") return { ended: "stopped", detail: `pod ${name} is not monitored any more` };
  return undefined;
}

export function isEnding(found: Stored<Pod> | Ending): found is Ending {
  return "ended" in found;
}

/** Another version than the decision was made about: what the server would have answered. */
export function changed(name: string): Ending {
  const message = `${name} changed in the meantime`;
  const error = new ConflictError({ attempt: `act on ${name}`, status: 409, reason: "Conflict", message });
  return { ended: "changed", detail: message, error };
}

export function alreadySo(name: string): Ending {
  return { ended: "done", detail: `${name} has it already` };
}

export function done(detail: string): Ending {
  return { ended: "done", detail };
}
