// The own deadline of a watch. A path that swallows packets looks like a quiet cluster: neither TCP keep-alive nor HTTP/2
// pings noticed one for minutes (kubernetes-facts). Bookmarks come about once a minute, so a longer silence means trouble.
import type { Cancel, Clock } from "../../concurrency/environment.ts";
import { UnansweredError } from "../transport/transport.ts";

/** Aborts when we have been listening for `idleMs` in vain. Disposing of it ends the waiting. */
export interface IdleWatchdog extends Disposable {
  readonly signal: AbortSignal;
  /** From now on we wait for the other side. Cheap: called for every chunk. */
  listen(): void;
  /** Something came; until the next `listen` the silence is ours (a slow consumer), and does not count. */
  heard(): void;
}

export function idleWatchdog(clock: Clock, idleMs: number, what: string): IdleWatchdog {
  const controller = new AbortController();
  let since: number | undefined = clock.monotonic();
  let cancel: Cancel;
  // The timer is not set anew for every chunk: when it fires it looks how long the silence has been, and waits the rest.
  const wait = (ms: number) => {
    cancel = clock.after(ms, () => {
      const leftMs = (since ?? clock.monotonic()) + idleMs - clock.monotonic();
      if (leftMs > 0) wait(leftMs);
      else controller.abort(new UnansweredError(what, idleMs));
    });
  };
  wait(idleMs);
  return {
    signal: controller.signal,
    listen: () => {
      since = clock.monotonic();
    },
    heard: () => {
      since = undefined;
    },
    [Symbol.dispose]: () => cancel(),
  };
}
