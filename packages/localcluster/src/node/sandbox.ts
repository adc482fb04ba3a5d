// A sandbox is where a cluster with a real node lives: a mount, a network and a pid namespace of its own.
//
// A node mounts file systems, makes network links, writes iptables rules and starts containers that outlive whoever started
// them. Done on the machine itself, each of those would have to be undone, also after a kill -9, and two clusters would have
// to agree on addresses. In namespaces the kernel undoes all of it at once: when the first process of the pid namespace ends,
// everything in there is killed, and mounts, links, routes and rules have nobody left who could see them.
//
//     host ─ unshare ─ sandbox-init.sh (pid 1 inside) ─ sleep
//          ├ nsenter ─ etcd
//          ├ nsenter ─ kube-apiserver, kubelet, containerd ─ shims ─ containers
//          └ nsenter ─ node gate.ts, the way in and out
//
// The network has no default route. No packet for a pod or a Service can leave, because there is nowhere to go; the ways in and
// out are single ports that somebody asked for (gateway.ts).
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SandboxGoneError } from "../errors.ts";
import { startComponent } from "../process/component.ts";
import type { Place } from "../process/place.ts";
import { listPids, readStat } from "../process/proc.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { type ExposedPort, type ForwardOptions, Gateway } from "./gateway.ts";
import { nodeAddress, serviceRange } from "./network.ts";
import { nodeTools, type Tools } from "./packages.ts";
import { checkNodeIsPossible } from "./requirements.ts";
import { until } from "./until.ts";

export interface Sandbox extends Place {
  /** Where programs inside are reached by each other: 10.32.0.1 (see network.ts). */
  readonly nodeAddress: string;
  /** containerd and the other programs that a node needs. */
  readonly tools: Tools;
  /** The pid, on the host, of the process that holds the sandbox together. */
  readonly pid: number;
  /** Makes a port of the inside reachable at 127.0.0.1:PORT on the host, and says which. Outlives this process. */
  forward(insidePort: number, options?: ForwardOptions): Promise<number>;
  /** Makes a server on this machine's 127.0.0.1 reachable from inside, as long as this process lives. */
  expose(hostPort: number): Promise<ExposedPort>;
  /** Ends every process inside at once, containers included; their mounts, links and rules go with them. */
  stop(): Promise<void>;
}

export interface SandboxOptions {
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The process that holds the sandbox together; a pid is used again after a while, a pid with its start time is not. */
interface Init {
  readonly pid: number;
  readonly startTime: string;
}

/** Checks that a real node can work here (requirements.ts), fetches what is missing (packages.ts), makes the namespaces. */
export async function startSandbox(directory: ClusterDirectory, options: SandboxOptions = {}): Promise<Sandbox> {
  await checkNodeIsPossible();
  const tools = await nodeTools(options);
  const ready = join(directory.run, "sandbox.ready");
  await rm(ready, { force: true });
  const script = join(import.meta.dirname, "sandbox-init.sh");
  const component = await startComponent(
    {
      name: "sandbox",
      place: { name: "host", command: (argv) => [...unshare, ...argv] },
      argv: ["sh", script, directory.path, nodeAddress, serviceRange],
      env: tools.env,
      ready: (signal) => until(() => existsSync(ready), { signal }),
      ...(options.signal && { signal: options.signal }),
    },
    directory,
  );
  const init = firstProcessOf(component.pid, directory);
  await writeFile(recordOf(directory), JSON.stringify(init));
  return sandboxOf(init, directory, tools);
}

/** The sandbox of a running cluster, for another process (`localcluster load`); undefined if the cluster has none. */
export async function openSandbox(directory: ClusterDirectory): Promise<Sandbox | undefined> {
  if (!existsSync(recordOf(directory))) return undefined;
  const init = JSON.parse(readFileSync(recordOf(directory), "utf8")) as Init;
  return isAlive(init) ? sandboxOf(init, directory, await nodeTools()) : undefined;
}

// --kill-child: if somebody kills unshare, the inside must not live on without a component that stands for it.
const unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

function sandboxOf(init: Init, directory: ClusterDirectory, tools: Tools): Sandbox {
  const place: Place = { name: `sandbox of ${directory.name}`, command: (argv) => [...enter(init, directory), ...argv] };
  const gateway = new Gateway(place, directory);
  return {
    ...place,
    nodeAddress,
    tools,
    pid: init.pid,
    forward: (port, options) => gateway.forward(port, options),
    expose: (port) => gateway.expose(port),
    async stop() {
      gateway.close();
      if (isAlive(init)) process.kill(init.pid, "SIGKILL");
      await until(() => !isAlive(init)); // it ends last of all: by then everybody in the sandbox is gone
    },
  };
}

/** Asks each time whether the sandbox is still the same: entered by a pid that is somebody else's, it would be the host itself. */
function enter(init: Init, directory: ClusterDirectory): readonly string[] {
  if (!isAlive(init)) throw new SandboxGoneError(directory.name);
  return ["nsenter", "--target", String(init.pid), "--mount", "--net", "--pid", "--"];
}

function isAlive({ pid, startTime }: Init): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== "Z" && stat.startTime === startTime;
}

/** Among the processes of the component, the one that is number 1 in its own pid namespace. */
function firstProcessOf(group: number, directory: ClusterDirectory): Init {
  for (const pid of listPids()) {
    const stat = readStat(pid);
    if (stat?.group === group && isFirstInside(pid)) return { pid, startTime: stat.startTime };
  }
  throw new SandboxGoneError(directory.name);
}

function isFirstInside(pid: number): boolean {
  try {
    return /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // it has ended
  }
}

function recordOf(directory: ClusterDirectory): string {
  return join(directory.run, "sandbox.json");
}
