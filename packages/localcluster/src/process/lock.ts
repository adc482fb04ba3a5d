// A lock between processes that leaves nothing on disk.
//
// The lock is a unix socket in Linux's abstract namespace: a name without a file. The kernel gives a name to one listener only and
// frees it when the process ends, however it ends. So there is no lock file that can go stale, and no race in taking over from a
// process that died. A process that waits connects to the socket: it receives the holder's pid, and the connection closes when the
// lock is free.
//
// The abstract namespace belongs to a network namespace: processes in different containers that share a cache do not see each
// other's locks. Then both do the work, which is safe, because a finished file gets into the cache by a rename.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Held until it is disposed. */
export type Lock = AsyncDisposable;

export interface LockOptions {
  readonly signal: AbortSignal | undefined;
  /** Called while another process holds the lock, so that the caller can report it. Must resolve when `free` does. */
  readonly waiting: (holder: Promise<string>, free: Promise<void>) => Promise<void>;
}

/** Waits for the lock on a resource (any string, usually a path) and takes it. */
export async function takeLock(resource: string, { signal, waiting }: LockOptions): Promise<Lock> {
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(resource);
    if (lock !== undefined) return lock;
    await waitForHolder(resource, signal, waiting);
  }
}

/** The lock, or undefined if it is held, by another process or by this one. */
export async function tryLock(resource: string): Promise<Lock | undefined> {
  const waiters = new Set<Socket>();
  const server = createServer((waiter) => {
    waiters.add(waiter);
    waiter.on("close", () => waiters.delete(waiter));
    waiter.on("error", () => {}); // the waiting process may be killed
    waiter.write(`process ${process.pid}`);
  });
  if (!(await listens(server, resource))) return undefined;
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const waiter of waiters) waiter.destroy();
      await closed;
    },
  };
}

async function listens(server: Server, resource: string): Promise<boolean> {
  try {
    // Exclusive: otherwise workers of node:cluster would share the socket, and each would take the lock.
    server.listen({ path: addressOf(resource), exclusive: true });
    await once(server, "listening");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
}

async function waitForHolder(resource: string, signal: AbortSignal | undefined, waiting: LockOptions["waiting"]): Promise<void> {
  const socket = connect({ path: addressOf(resource) });
  const stop = () => socket.destroy();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const free = new Promise<void>((done) => socket.on("close", () => done()));
    // An error means the same as a close: the lock was freed before we connected.
    const holder = new Promise<string>((done) => socket.on("data", (pid) => done(String(pid))).on("error", () => {}));
    await waiting(holder, free);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** A name per resource and user, within the 107 bytes of a socket name. */
function addressOf(resource: string): string {
  const digest = createHash("sha256").update(resource).digest("hex").slice(0, 40);
  return `\0localcluster/${process.getuid?.()}/${digest}`;
}
