// Free ports, and connected sockets.
//
// Nothing reserves a port until a process binds it. Where we choose the port, another one is tried if it was taken in between. Where
// the user chose it, an error names the process that uses it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { ComponentFailedError, InvalidOptionsError, PortInUseError } from "../errors.ts";
import { listPids, readCommand } from "./proc.ts";

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return tryToListen(0);
}

/** Rejects with PortInUseError, which names the process that uses the port if it can be determined. */
export async function assertPortFree(port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new InvalidOptionsError("port", "a number from 1 to 65535", port);
  try {
    return await tryToListen(port);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause)) throw cause;
    if (cause.code === "EADDRINUSE") throw new PortInUseError(port, `in use by ${holderOf(port)}`, { cause });
    if (cause.code === "EACCES") throw new PortInUseError(port, "only root can listen on it", { cause });
    throw cause;
  }
}

/** Runs `start` with a free port, and again with another one if the port was taken in between. */
export async function withFreePort<T>(start: (port: number) => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === attempts || !wasTaken(error)) throw error;
    }
  }
}

/** Kubernetes components report it nowhere but in their log. */
function wasTaken(error: unknown): boolean {
  return error instanceof ComponentFailedError && error.log.includes("address already in use");
}

function tryToListen(port: number): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once("error", fail);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}

/** For messages: `process 42 (etcd --name=…)`. */
function holderOf(port: number): string {
  const inodes = listeningInodes(port);
  const pid = listPids().find((candidate) => openSockets(candidate).some((inode) => inodes.has(inode)));
  return pid === undefined ? "a process of another user" : `process ${pid} (${readCommand(pid)?.slice(0, 80)})`;
}

/** The sockets that listen on a port, from the kernel's table: `sl local_address rem_address st … inode`. */
function listeningInodes(port: number): ReadonlySet<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => {
    try {
      return readFileSync(table, "utf8").trim().split("\n").slice(1);
    } catch {
      return []; // a machine without IPv6
    }
  });
  const listen = "0A";
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return new Set(fields.filter(([, local, , state]) => local?.endsWith(suffix) && state === listen).map((row) => row[9] ?? ""));
}

function openSockets(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => socketInode(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // exited, or belongs to another user
  }
}

function socketInode(link: string): readonly string[] {
  try {
    return (
      readlinkSync(link)
        .match(/^socket:\[(\d+)\]$/)
        ?.slice(1) ?? []
    );
  } catch {
    return [];
  }
}

/** Pipes bytes both ways. The end of one side ends the other; an error on one side resets the other. */
export function joinSockets(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to);
    from.on("error", () => reset(to));
    from.on("close", () => to.destroySoon());
  }
}

/** A reset, not an end: a client that waits for a response must see that it was cut off. A Unix socket has no reset, and Node throws. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
