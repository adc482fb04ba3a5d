// One process at a time, without anything on disk that could go stale.
//
// The lock is a Unix socket in Linux's abstract namespace: a name without a file. The kernel gives a name to one listener
// only and takes it back the moment the process is gone, however it went, so there is no lock file to judge (is that pid
// still the process that wrote it?) and no race in taking over a dead one's. Who waits connects, and hears three things:
// who holds the lock (it says its pid), nothing for as long as the work goes on, and then the connection closing.
//
// The namespace is that of a network: processes in different containers that share a cache do not see each other's locks.
// Then both do the work, and the cache is still right, because a finished binary gets there by a rename.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Holds until disposed of. */
export type Lock = AsyncDisposable;

export interface LockOptions {
  readonly signal: AbortSignal | undefined;
  /** Called with what there is to wait for; returns when `free` does. Lets the caller say so. */
  readonly waiting: (holder: Promise<string>, free: Promise<void>) => Promise<void>;
}

/** Takes the lock on this resource (any string; a path, here), after waiting for whoever holds it. */
export async function takeLock(resource: string, { signal, waiting }: LockOptions): Promise<Lock> {
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(resource);
    if (lock !== undefined) return lock;
    await waitForHolder(resource, signal, waiting);
  }
}

/** The lock, or undefined where somebody holds it; also somebody in this process. */
export async function tryLock(resource: string): Promise<Lock | undefined> {
  const waiters = new Set<Socket>();
  const server = createServer((waiter) => {
    waiters.add(waiter);
    waiter.on("close", () => waiters.delete(waiter));
    waiter.on("error", () => {}); // a waiter may be killed as well
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
    // Exclusive: workers of node:cluster would otherwise share the socket, and each believe it has the lock.
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
    // An error is as good as a close: the holder let go between our attempt to listen and our call.
    const holder = new Promise<string>((done) => socket.on("data", (pid) => done(String(pid))).on("error", () => {}));
    await waiting(holder, free);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** A name of its own for each resource and user, within the 107 bytes that a socket's name may have. */
function addressOf(resource: string): string {
  const digest = createHash("sha256").update(resource).digest("hex").slice(0, 40);
  return `\0localcluster/${process.getuid?.()}/${digest}`;
}
