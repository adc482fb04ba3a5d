// A component is one long-running program of a cluster: started with its output in a log file, waited for until it
// answers, stopped for good.
//
// Each component leads a session of its own. So Ctrl-C in a terminal reaches only us, and we take the cluster down in
// the right order; and a cluster of `localcluster up` goes on when the terminal is closed.
//
// A signal goes to the whole process group, because in a sandbox the child we know is `nsenter` and the program is a
// child of that. For the same reason a component has stopped when its group is empty, not when our child has exited.
//
// Two variables mark every process as ours (process/orphans.ts finds them again after a kill -9): LOCALCLUSTER, the
// absolute path of the cluster directory, and LOCALCLUSTER_COMPONENT. They are there from the first instruction, so
// there is no moment between "started" and "written down".
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { ComponentFailedError } from "../errors.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { endGroup } from "./group.ts";
import { lastLines } from "./log.ts";
import type { Place } from "./place.ts";

export interface ComponentSpec {
  readonly name: string;
  readonly argv: readonly string[];
  readonly place: Place;
  /** Beside PATH, HOME, TMPDIR and our two marks; nothing else is inherited, a proxy setting least of all. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when the component answers; polls until then. The signal fires when there is no point in going on. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long `ready` may take, in milliseconds. @default 120_000 */
  readonly readyWithinMs?: number;
  /** SIGTERM, then SIGKILL after this many milliseconds. @default 10_000 */
  readonly graceMs?: number;
  /** Gives up the start and ends the process. */
  readonly signal?: AbortSignal;
}

export interface Component {
  readonly name: string;
  /** On the host, and also the number of its process group. */
  readonly pid: number;
  readonly logFile: string;
  /** What it was started from: the same again starts it again, on the same port and the same data. */
  readonly spec: ComponentSpec;
  isRunning(): boolean;
  /** Ends it and resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Resolves with what ended it, in words: `exit code 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
}

/** Rejects early, with the last lines of the log, if the process ends before it is ready. */
export async function startComponent(spec: ComponentSpec, directory: ClusterDirectory): Promise<Component> {
  spec.signal?.throwIfAborted();
  const component = await launch(spec, directory);
  try {
    await untilReady(spec, component);
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
  const pid = child.pid as number; // there is one: it has spawned
  child.unref(); // a cluster is no reason for a program to go on
  const { signal: _ofThisStart, ...again } = spec;
  let running = true;
  void exited.then(() => {
    running = false;
  });
  const isRunning = () => running;
  const stop = async () => {
    child.ref();
    await endGroup(pid, spec.graceMs ?? 10_000);
    await exited; // the group is empty a moment before Node hears of it
  };
  return { name: spec.name, pid, logFile, spec: again, exited, isRunning, stop };
}

function spawnInto(logFile: string, spec: ComponentSpec, directory: ClusterDirectory): ChildProcess {
  const [command = "", ...args] = spec.place.command(spec.argv);
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

/** The marks come last: nothing that a caller passes can hide a process from us. */
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

async function untilReady(spec: ComponentSpec, component: Component): Promise<void> {
  const over = new AbortController();
  const within = spec.readyWithinMs ?? 120_000;
  const timer = setTimeout(() => over.abort(`was not ready after ${within / 1000} s`), within);
  const cancel = () => over.abort(spec.signal?.reason);
  spec.signal?.addEventListener("abort", cancel, { once: true });
  void component.exited.then((how) => over.abort(`ended before it was ready (${how})`));
  const given = new Promise<never>((_, fail) => over.signal.addEventListener("abort", () => fail(over.signal.reason)));
  try {
    await Promise.race([spec.ready(over.signal), given]);
  } catch (cause) {
    spec.signal?.throwIfAborted();
    const why = typeof over.signal.reason === "string" ? over.signal.reason : `failed its first check: ${String(cause)}`;
    const log = await lastLines(component.logFile, 15);
    throw new ComponentFailedError(spec.name, why, { logFile: component.logFile, log, cause });
  } finally {
    clearTimeout(timer);
    spec.signal?.removeEventListener("abort", cancel);
    over.abort(); // a check that still polls must not outlive the start
  }
}
