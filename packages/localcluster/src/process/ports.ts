// Free ports. Nothing can keep a port free until another process binds it, so a port of our own choosing is tried, and
// another one if somebody was quicker. A port that the user asked for is not ours to change: then we say who has it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { ComponentFailedError, PortTakenError } from "../errors.ts";
import { listPids, readCommand } from "./proc.ts";

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return tryToListen(0);
}

/** Rejects with PortTakenError, which says by whom if that can be known. */
export async function mustBeFree(port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new PortTakenError(port, "a port is a number from 1 to 65535");
  try {
    return await tryToListen(port);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause)) throw cause;
    if (cause.code === "EADDRINUSE") throw new PortTakenError(port, `in use by ${holderOf(port)}`, { cause });
    if (cause.code === "EACCES") throw new PortTakenError(port, "only root may listen on it", { cause });
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

function wasTaken(error: unknown): boolean {
  return error instanceof ComponentFailedError && /address already in use/.test(error.message);
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

/** For people: `etcd --name=… (pid 42)`, as far as we may look. */
function holderOf(port: number): string {
  const inodes = listeningInodes(port);
  const pid = listPids().find((candidate) => openSockets(candidate).some((inode) => inodes.has(inode)));
  return pid === undefined ? "a process of another user" : `process ${pid} (${readCommand(pid)?.slice(0, 80)})`;
}

/** The sockets listening on a port, by the kernel's own table: `sl local_address rem_address st … inode`. */
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
    return []; // gone, or not ours to look into
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
