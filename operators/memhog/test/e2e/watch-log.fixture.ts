// Records every state of every object with a watch, in the order of the server. Polling would miss short-lived states.
import type { Client, Kind, KubernetesObject, Stored } from "@memhog/runtime";

export interface Filmed<T extends KubernetesObject> extends AsyncDisposable {
  /** All objects of the kind by name, after each change. */
  readonly frames: readonly Readonly<Record<string, Stored<T>>>[];
}

export async function film<T extends KubernetesObject>(client: Client, kind: Kind<T>, namespace: string): Promise<Filmed<T>> {
  const frames: Readonly<Record<string, Stored<T>>>[] = [{}];
  const cut = new AbortController();
  const opened = Promise.withResolvers<void>();
  const options = { namespace, signal: cut.signal, onOpen: () => opened.resolve(), idleMs: 600_000, timeoutSeconds: 1_200 };
  const filming = async () => {
    for await (const event of client.watch(kind, options)) {
      if (event.type === "BOOKMARK") continue;
      const { [event.object.metadata.name]: _, ...others } = frames.at(-1) ?? {};
      frames.push(event.type === "DELETED" ? others : { ...others, [event.object.metadata.name]: event.object });
    }
  };
  const done = filming().catch((error: unknown) => {
    opened.reject(error);
    if (!cut.signal.aborted) throw error; // a log with a gap proves nothing
  });
  await opened.promise;
  const stop = async () => {
    cut.abort();
    await done;
  };
  return { frames, [Symbol.asyncDispose]: stop };
}
