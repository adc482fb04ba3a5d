// Records every state of every object with a watch, in the order of the server. Polling would miss short-lived states.
import type { Client, Kind, KubernetesObject, Stored } from "@memhog/runtime";

export interface WatchLog<T extends KubernetesObject> extends AsyncDisposable {
  /** All objects of the kind by name, after each change. */
  readonly states: readonly Readonly<Record<string, Stored<T>>>[];
}

export async function recordWatch<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  namespace: string,
): Promise<WatchLog<T>> {
  const states: Readonly<Record<string, Stored<T>>>[] = [{}];
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const options = { namespace, signal: stop.signal, onOpen: () => opened.resolve(), idleMs: 600_000, timeoutSeconds: 1_200 };
  const record = async () => {
    for await (const event of client.watch(kind, options)) {
      if (event.type === "BOOKMARK") continue;
      const { [event.object.metadata.name]: _, ...others } = states.at(-1) ?? {};
      states.push(event.type === "DELETED" ? others : { ...others, [event.object.metadata.name]: event.object });
    }
  };
  const done = record().catch((error: unknown) => {
    opened.reject(error);
    if (!stop.signal.aborted) throw error; // a log with a gap proves nothing
  });
  await opened.promise;
  const close = async () => {
    stop.abort();
    await done;
  };
  return { states, [Symbol.asyncDispose]: close };
}
