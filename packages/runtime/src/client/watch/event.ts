// One line of a watch → one event, or the error that the line stands for.
import type { KubernetesObject, Stored } from "../../objects/object.ts";
import { errorOf, isStatus } from "../answer.ts";
import type { WatchEvent } from "../client.ts";
import { BrokenStreamError } from "../errors.ts";

/** The server sets this on the bookmark that ends the initial events of a streaming list. */
const initialEventsEnd = "k8s.io/initial-events-end";

/**
 * The event of a line. A type that this client does not know is none; `skipped` hears of it.
 * @throws the error that an ERROR event carries, BrokenStreamError for a line that is no event
 */
export function parseEvent<T extends KubernetesObject>(
  attempt: string,
  line: string,
  skipped: (type: string) => void,
): WatchEvent<T> | undefined {
  const { type, object } = eventIn(attempt, line);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return { type, object: object as Stored<T> };
  if (type === "BOOKMARK") return bookmark(object);
  if (type === "ERROR" && isStatus(object)) throw errorOf(attempt, object);
  if (type === "ERROR") throw new BrokenStreamError(`${attempt}: the server reported an error without a Status`);
  skipped(type);
  return undefined;
}

function eventIn(attempt: string, line: string): { readonly type: string; readonly object: object } {
  let event: { readonly type?: unknown; readonly object?: unknown } | null;
  try {
    event = JSON.parse(line);
  } catch {
    // Neither the text nor the parser's complaint, which quotes it, is repeated: it may be a Secret.
    throw new BrokenStreamError(`${attempt}: expected a JSON event, found ${line.length} characters that are none`);
  }
  const { type, object } = event ?? {};
  if (typeof type === "string" && typeof object === "object" && object !== null) return { type, object };
  throw new BrokenStreamError(`${attempt}: expected an event with a type and an object, found one without`);
}

function bookmark(object: KubernetesObject): WatchEvent<never> {
  const { resourceVersion = "", annotations } = object.metadata ?? {};
  return { type: "BOOKMARK", resourceVersion, initialEventsEnd: annotations?.[initialEventsEnd] === "true" };
}
