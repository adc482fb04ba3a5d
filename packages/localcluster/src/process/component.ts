// A component is one long-running program of a cluster. startComponent() starts it with its output in a log file and resolves when
// it is ready.
//
// Each component leads a session of its own. Ctrl-C in a terminal reaches only the process that owns the cluster, which stops
// components in the right order; and a cluster of `localcluster up` keeps running when the terminal is closed.
//
// Signals go to the whole process group, because in a sandbox the child we know is `nsenter` and the program is a child of that.
// For the same reason a component has stopped when its group is empty, not when our child has exited.
//
// Two environment variables mark every process of a cluster, so that they are found again after a kill -9 (proc.ts): LOCALCLUSTER,
// the absolute path of the cluster directory, and LOCALCLUSTER_COMPONENT. They are set from the first instruction on, so there is
// no gap between starting a process and recording it.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { ComponentFailedError } from "../errors.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { stopGroup } from "./proc.ts";

/**
 * Where a process runs: on the host or, with a real node, in a sandbox of Linux namespaces (node/sandbox.ts). Code that starts
 * processes does not need to know which.
 */
export interface ExecContext {
  /** For messages: `host`, or the name of the sandbox. */
  readonly name: string;
  /** The command line, as seen from the host, that runs this argv in the context. */
  command(argv: readonly string[]): readonly string[];
}

export const host: ExecContext = { name: "host", command: (argv) => argv };

export interface ComponentSpec {
  readonly name: string;
  readonly argv: readonly string[];
  readonly context: ExecContext;
  /** In addition to PATH, HOME, TMPDIR and the two marks. Nothing else is inherited, proxy settings in particular. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when the component is ready; polls until then. The signal aborts when the start is given up. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long `ready` may take, in milliseconds. @default 120_000 */
  readonly readyWithinMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. @default 10_000 */
  readonly graceMs?: number;
  /** Gives up the start and stops the process. */
  readonly signal?: AbortSignal | undefined;
}

export interface Component {
  readonly name: string;
  /** On the host; also the number of its process group. */
  readonly pid: number;
  readonly logFile: string;
  /** What it was started from. Starting the same spec again uses the same port and the same data. */
  readonly spec: ComponentSpec;
  isRunning(): boolean;
  /** Stops it; resolves when its process group is empty. */
  stop(): Promise<void>;
  /** Resolves with what ended it: `exit code 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
}

/** Rejects early, with the last lines of the log, if the process exits before it is ready. */
export async function startComponent(spec: ComponentSpec, directory: ClusterDirectory): Promise<Component> {
  spec.signal?.throwIfAborted();
  const component = await launch(spec, directory);
  try {
    await waitForReady(spec, component);
    return component;
  } catch (error) {
    await component.stop();
    throw error;
  }
}

async function launch(spec: ComponentSpec, directory: ClusterDirectory): Promise<Component> {
  const logFile = join(directory.logs, `${spec.name}.log`);
  const child = spawnInto(logFile, spec, directory);
  const exited = new Promise<string>((done) => {
    child.once("exit", (code, signal) => done(signal ?? `exit code ${code}`));
  });
  await new Promise<void>((done, fail) => {
    child.once("spawn", done);
    child.once("error", (cause) =>
      fail(new ComponentFailedError(spec.name, `could not be started: ${cause.message}`, { logFile, cause })),
    );
  });
  const pid = child.pid as number; // set, because the child has spawned
  child.unref(); // a running cluster does not keep its owner alive
  const { signal: _ofThisStart, ...again } = spec;
  let running = true;
  void exited.then(() => {
    running = false;
  });
  const isRunning = () => running;
  const stop = async () => {
    child.ref();
    await stopGroup(pid, spec.graceMs ?? 10_000);
    await exited; // the group is empty a moment before Node emits the event
  };
  return { name: spec.name, pid, logFile, spec: again, exited, isRunning, stop };
}

function spawnInto(logFile: string, spec: ComponentSpec, directory: ClusterDirectory): ChildProcess {
  const [command = "", ...args] = spec.context.command(spec.argv);
  const log = openSync(logFile, "a", 0o600);
  try {
    return spawn(command, args, {
      cwd: directory.path,
      detached: true,
      stdio: ["ignore", log, log],
      env: componentEnvironment(spec, directory),
    });
  } finally {
    closeSync(log);
  }
}

/** The marks come last, so that `env` cannot override them. */
export function componentEnvironment(
  spec: Pick<ComponentSpec, "name" | "env">,
  directory: ClusterDirectory,
): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: directory.data,
    TMPDIR: directory.tmp,
    ...spec.env,
    LOCALCLUSTER: directory.path,
    LOCALCLUSTER_COMPONENT: spec.name,
  };
}

async function waitForReady(spec: ComponentSpec, component: Component): Promise<void> {
  const over = new AbortController();
  const within = spec.readyWithinMs ?? 120_000;
  const timer = setTimeout(() => over.abort(`was not ready after ${within / 1000} s`), within);
  const cancel = () => over.abort(spec.signal?.reason);
  spec.signal?.addEventListener("abort", cancel, { once: true });
  void component.exited.then((how) => over.abort(`exited before it was ready (${how})`));
  const aborted = new Promise<never>((_, fail) => over.signal.addEventListener("abort", () => fail(over.signal.reason)));
  try {
    await Promise.race([spec.ready(over.signal), aborted]);
  } catch (cause) {
    spec.signal?.throwIfAborted();
    const why = typeof over.signal.reason === "string" ? over.signal.reason : `failed its readiness check: ${String(cause)}`;
    const log = await lastLines(component.logFile, 15);
    throw new ComponentFailedError(spec.name, why, { logFile: component.logFile, log, cause });
  } finally {
    clearTimeout(timer);
    spec.signal?.removeEventListener("abort", cancel);
    over.abort(); // a check that still polls must not outlive the start
  }
}

/** The last lines of a log file of any size; an empty string if there is no such file. */
async function lastLines(file: string, count: number): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 16 * 1024);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-count).join("\n");
  } finally {
    await handle.close();
  }
}
