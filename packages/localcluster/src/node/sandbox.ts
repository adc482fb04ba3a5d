// The sandbox of a cluster with a real node: a mount, a network and a pid namespace that all of its processes run in.
//
// A node mounts file systems, creates network links, writes iptables rules and starts containers that outlive the process that
// started them. On the host, each of those would have to be undone, even after a kill -9, and two clusters would have to agree on
// addresses. In namespaces the kernel cleans up: when the first process of the pid namespace ends, every other process in it is
// killed, and the mounts, links, routes and rules disappear with the namespaces.
//
//     host ─ unshare ─ sandbox-init.sh (pid 1 inside) ─ sleep
//          ├ nsenter ─ etcd
//          ├ nsenter ─ kube-apiserver, kubelet, containerd ─ shims ─ containers
//          └ nsenter ─ node forwarder.ts
//
// The network has no default route, so no packet for a pod or a Service leaves the machine. Single ports are forwarded on request
// (port-forwarding.ts).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CommandFailedError, SandboxGoneError } from "../errors.ts";
import { componentEnvironment, type ExecContext, startComponent } from "../process/component.ts";
import { waitUntil } from "../process/probe.ts";
import { listPids, readStat } from "../process/proc.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { nodeAddress, serviceRange } from "./network.ts";
import { nodeTools, type Tools } from "./packages.ts";
import { type ExposedPort, type ForwardOptions, PortForwarding } from "./port-forwarding.ts";
import { checkNodeRequirements } from "./requirements.ts";

export interface Sandbox extends ExecContext {
  /** The address of the node inside: 10.32.0.1 (network.ts). */
  readonly nodeAddress: string;
  /** containerd and the other programs that a node needs. */
  readonly tools: Tools;
  /** The pid, on the host, of the first process of the sandbox. */
  readonly pid: number;
  /** Makes a port of the sandbox reachable at 127.0.0.1:PORT on the host and returns PORT. Keeps working when this process ends. */
  forward(insidePort: number, options?: ForwardOptions): Promise<number>;
  /** Makes a server on 127.0.0.1 of the host reachable from inside, until this process ends. */
  expose(hostPort: number): Promise<ExposedPort>;
  /** Kills every process inside, containers included. Their mounts, links and rules disappear with them. */
  stop(): Promise<void>;
}

export interface SandboxOptions {
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The first process of the sandbox. The start time tells it from a later process with the same pid. */
interface InitProcess {
  readonly pid: number;
  readonly startTime: string;
}

/** Checks the requirements, downloads missing programs, and creates the namespaces. */
export async function startSandbox(directory: ClusterDirectory, options: SandboxOptions = {}): Promise<Sandbox> {
  await checkNodeRequirements();
  const tools = await nodeTools(options);
  const ready = join(directory.run, "sandbox.ready");
  await rm(ready, { force: true });
  const script = join(import.meta.dirname, "sandbox-init.sh");
  const component = await startComponent(
    {
      name: "sandbox",
      context: { name: "host", command: (argv) => [...unshare, ...argv] },
      argv: ["sh", script, directory.path, nodeAddress, serviceRange],
      env: tools.env,
      ready: (signal) => waitUntil(() => existsSync(ready), signal),
      signal: options.signal,
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
  const init = JSON.parse(readFileSync(recordOf(directory), "utf8")) as InitProcess;
  return isRunning(init) ? sandboxOf(init, directory, await nodeTools()) : undefined;
}

// --kill-child: if unshare is killed, the sandbox must not outlive its component.
const unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

function sandboxOf(init: InitProcess, directory: ClusterDirectory, tools: Tools): Sandbox {
  const context: ExecContext = {
    name: `sandbox of ${directory.name}`,
    command: (argv) => [...nsenter(init, directory), ...argv],
  };
  const ports = new PortForwarding(context, directory);
  return {
    ...context,
    nodeAddress,
    tools,
    pid: init.pid,
    forward: (port, options) => ports.forward(port, options),
    expose: (port) => ports.expose(port),
    async stop() {
      ports.close();
      if (isRunning(init)) process.kill(init.pid, "SIGKILL");
      await waitUntil(() => !isRunning(init)); // it ends last: by then every process of the sandbox has ended
    },
  };
}

/** Checks each time that the pid still belongs to the sandbox: otherwise the command would run on the host. */
function nsenter(init: InitProcess, directory: ClusterDirectory): readonly string[] {
  if (!isRunning(init)) throw new SandboxGoneError(directory.name);
  return ["nsenter", "--target", String(init.pid), "--mount", "--net", "--pid", "--"];
}

function isRunning({ pid, startTime }: InitProcess): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== "Z" && stat.startTime === startTime;
}

/** Of the processes of the component, the one with pid 1 in its own pid namespace. */
function firstProcessOf(group: number, directory: ClusterDirectory): InitProcess {
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
    return false; // exited
  }
}

function recordOf(directory: ClusterDirectory): string {
  return join(directory.run, "sandbox.json");
}

/** A sandbox and the directory of its cluster. */
export interface SandboxedCluster {
  readonly directory: ClusterDirectory;
  readonly sandbox: Sandbox;
}

export interface RunOptions {
  /** A file descriptor. @default no input */
  readonly stdin?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program in the sandbox, waits for it to exit, and returns its stdout. Rejects with the end of its stderr. */
export async function runInside(
  { directory, sandbox }: SandboxedCluster,
  argv: readonly string[],
  { stdin, signal }: RunOptions = {},
): Promise<string> {
  const [command = "", ...args] = sandbox.command(argv);
  const env = componentEnvironment({ name: "command", env: sandbox.tools.env }, directory);
  const child = spawn(command, args, { stdio: [stdin ?? "ignore", "pipe", "pipe"], env, ...(signal && { signal }) });
  const output = Promise.all([child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream))));
  const [code, killed] = await once(child, "exit");
  const [stdout = "", stderr = ""] = await output;
  if (code === 0) return stdout;
  const shown = argv.map((arg) => arg.split("/").at(-1)).slice(0, 4);
  const why = stderr.trim().split("\n").slice(-5).join("\n") || (killed ?? `exit code ${code}`);
  throw new CommandFailedError(shown.join(" "), why);
}

/** Waits until a server inside answers with success at this URL. */
export async function waitForHttp(cluster: SandboxedCluster, url: string, signal: AbortSignal): Promise<void> {
  // No -T: a static busybox crashes when it sets its timer. The signal limits the time.
  const argv = [cluster.sandbox.tools.path("busybox"), "wget", "-q", "-O", "-", url];
  await waitUntil(() => succeeds(runInside(cluster, argv, { signal })), signal);
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
