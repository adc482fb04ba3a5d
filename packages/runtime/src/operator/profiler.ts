// CPU and heap profiles of a running operator. Disabled by default and restricted to clients on this machine, because a heap snapshot
// contains every secret that the process has read.
//
//     kubectl port-forward deploy/gordon-operator 6060
//     curl -o cpu.cpuprofile 'localhost:6060/debug/profile?seconds=30'    open it in Chrome DevTools or VS Code
//     curl -o heap.heapsnapshot localhost:6060/debug/heap                 blocks the event loop while it is taken

import type { Clock } from "../concurrency/environment.ts";
import {
  type Endpoint,
  type EndpointOptions,
  listenAt,
  loopbackOnly,
  parseAddress,
  type Reply,
  type Route,
} from "./endpoints.ts";
import { AddressError } from "./errors.ts";

const maxSeconds = 300;

/** Listens on a loopback address; ":6060" is 127.0.0.1:6060, and "0" disables it. @throws AddressError for any other address */
export async function listenForProfiles(
  address: string,
  clock: Clock,
  onError?: EndpointOptions["onError"],
): Promise<Endpoint | undefined> {
  if (address === "0") return undefined;
  const { host = "127.0.0.1", port } = parseAddress(address);
  if (!/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) {
    throw new AddressError(`expected a loopback address for profiles, like "127.0.0.1:6060", found ${JSON.stringify(address)}`);
  }
  const local = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const routes = { "/debug/profile": loopbackOnly(cpuProfile(clock)), "/debug/heap": loopbackOnly(heapSnapshot) };
  return listenAt(local, routes, { ...(onError && { onError }), idleTimeoutMs: (maxSeconds + 30) * 1_000 });
}

/** Records a CPU profile for `?seconds=`, 30 by default. One at a time, because V8 has one profiler. */
function cpuProfile(clock: Clock): Route {
  let busy = false;
  return async (url): Promise<Reply> => {
    const seconds = Number(url.searchParams.get("seconds") ?? 30);
    if (!(seconds > 0 && seconds <= maxSeconds)) {
      return { status: 400, body: `expected ?seconds= of more than 0 and at most ${maxSeconds}\n` };
    }
    if (busy) return { status: 409, body: "another profile is being recorded\n" };
    busy = true;
    try {
      return { type: "application/json", body: JSON.stringify(await recordCpu(seconds * 1_000, clock)) };
    } finally {
      busy = false;
    }
  };
}

async function recordCpu(durationMs: number, clock: Clock): Promise<object> {
  // Loaded on demand: an operator normally does not need the inspector.
  const { Session } = process.getBuiltinModule("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await clock.sleep(durationMs);
    const { profile } = await session.post("Profiler.stop");
    return profile;
  } finally {
    session.disconnect();
  }
}

const heapSnapshot: Route = () => ({
  type: "application/json",
  body: process.getBuiltinModule("node:v8").getHeapSnapshot().setEncoding("utf8"),
});
