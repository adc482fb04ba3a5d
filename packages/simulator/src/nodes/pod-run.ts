// One pod on a node, from the time the node sees it until its cleanup: which containers start, restart and stop, and when.
//
//     sandbox → init containers in order (sidecars keep running) → containers → …
//     … → all containers done, deadline, or deletion: stop containers, then sidecars in reverse order → clean up
//
// Every future change has a time. `advance` applies all changes that are due, in order, however late it is called: a node that
// could not reach the API server for a minute then reports what its containers did in that minute. `tell` records events; the
// reported status is computed from the state (pod-status.ts).
import type { Pod, Stored } from "@memhog/runtime";
import { ContainerRun, createContainer, runContainer, runtimeId } from "./container-run.ts";
import { type Fate, type Instant, instantAt, type Life } from "./life.ts";
import type { PodTools } from "./pod-tools.ts";
import { Resize } from "./resize.ts";

export type Sandbox =
  | { readonly kind: "none"; readonly readyAt?: number }
  | { readonly kind: "ready" | "gone"; readonly since: Instant; readonly ip: string; readonly id: string };

/** Why the whole pod failed, with the API's reason and message. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** The minimum grace period of sidecars, even if the containers before them have used it up. */
const leastGraceMs = 2_000;
const never = Number.POSITIVE_INFINITY;

export class PodRun {
  readonly startTime: Instant;
  readonly init: readonly ContainerRun[];
  readonly main: readonly ContainerRun[];
  readonly resize: Resize;
  sandbox: Sandbox = { kind: "none" };
  failure: Failure | undefined;
  /** The pod has a deletionTimestamp. */
  isRemoved = false;
  isRejected = false;
  #pod: Stored<Pod>;
  #initialized = false;
  /** The end of the current grace period; undefined if nothing is being stopped. */
  #graceEndsAt: number | undefined;
  #cleanAt = never;
  #over = false;
  /** All changes up to this time are applied. */
  #now: number;
  readonly #tools: PodTools;

  constructor(pod: Stored<Pod>, tools: PodTools) {
    const { initContainers = [], containers } = pod.spec;
    const { random, clock } = tools.environment;
    this.#pod = pod;
    this.#tools = tools;
    this.#now = clock.monotonic();
    this.startTime = instantAt(clock, this.#now);
    this.init = initContainers.map((spec) => new ContainerRun(spec, "init", random));
    this.main = containers.map((spec) => new ContainerRun(spec, "main", random));
    this.resize = new Resize(this, tools);
    this.#decide();
  }

  get pod(): Stored<Pod> {
    return this.#pod;
  }

  get uid(): string {
    return this.#pod.metadata.uid;
  }

  get containers(): readonly ContainerRun[] {
    return [...this.init, ...this.main];
  }

  get now(): number {
    return this.#now;
  }

  get isInitialized(): boolean {
    return this.#initialized || this.init.length === 0;
  }

  /** All containers have terminated for good, or are about to. */
  get isEnding(): boolean {
    return this.#graceEndsAt !== undefined;
  }

  /** The pod is cleaned up, and its status is final. */
  get isOver(): boolean {
    return this.#over;
  }

  get isDeleted(): boolean {
    return this.#pod.metadata.deletionTimestamp !== undefined;
  }

  /** The time of the next change; Infinity if there is none until the pod object changes. */
  due(): number {
    if (this.#over) return never;
    const ofSandbox = this.sandbox.kind === "none" ? (this.sandbox.readyAt ?? never) : never;
    const ofContainers = this.containers.map((container) => container.due(this.#now));
    return Math.min(ofSandbox, this.#cleanAt, this.#deadline(), this.resize.due(), ...ofContainers);
  }

  /** Applies all changes that are due at this time. */
  advance(to: number): void {
    for (let due = this.due(); due <= to; due = this.due()) {
      const since = this.#now;
      this.#now = Math.max(since, due);
      this.#happen(since);
      this.#decide();
    }
    this.#now = Math.max(this.#now, to);
  }

  /** The pod object has changed. */
  observe(pod: Stored<Pod>): void {
    const changed = pod.metadata.generation !== this.#pod.metadata.generation;
    this.#pod = pod;
    const specs = new Map([...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((spec) => [spec.name, spec]));
    for (const container of this.containers) container.spec = specs.get(container.name) ?? container.spec;
    if (changed) for (const container of this.containers) container.sayBackOff();
    if (this.isDeleted) this.end((pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000);
    this.resize.observe();
    this.#decide();
  }

  /** Stops all containers for good. A later call may shorten the grace period. */
  end(graceMs: number, failure?: Failure): void {
    const endsAt = this.#now + graceMs;
    this.failure ??= failure;
    if (this.#graceEndsAt !== undefined && this.#graceEndsAt <= endsAt) return;
    this.#graceEndsAt = endsAt;
    for (const container of this.containers) {
      container.giveUp();
      if (container.life?.isStopping) container.life.stop({ now: this.#now, graceMs });
    }
    this.#decide();
  }

  /** The node rejects the pod. */
  reject(failure: Failure): void {
    this.failure = failure;
    this.isRejected = true;
    this.#graceEndsAt = this.#now;
    this.#over = true;
  }

  /** The node was without power until now: no container runs, and their exit statuses are unknown. */
  crash(now: number): void {
    this.#now = now;
    for (const container of this.containers) {
      if (container.life !== undefined) this.#ended(container, container.life, 255, "Unknown");
      else if (container.state.kind === "ended" && !container.isOver) container.restartAfterEnd(now);
    }
    this.#decide();
  }

  /** Stops one container so that it restarts. */
  restart(container: ContainerRun, message: string): void {
    if (container.life === undefined || container.life.isStopping) return;
    this.#tools.tell({ type: "Normal", reason: "Killing", message, container });
    container.killed = true;
    container.life.stop({ now: this.#now, graceMs: this.#graceMs });
  }

  // The changes, at #now.

  #happen(since: number): void {
    const now = this.#now;
    if (this.sandbox.kind === "none" && (this.sandbox.readyAt ?? never) <= now) this.#sandboxIsReady();
    if (this.#cleanAt <= now) this.#isClean();
    if (this.#deadline() <= now) this.#deadlineIsOver();
    if (this.resize.due() <= now) this.resize.happen();
    for (const container of this.containers) if (container.due(since) <= now) this.#happenTo(container, since);
  }

  #happenTo(container: ContainerRun, since: number): void {
    for (const other of this.containers) if (other !== container) other.sayBackOff();
    const { state } = container;
    if (state.kind === "running") this.#fulfil(container, state.life, state.life.next(since));
    else if (state.kind === "no image" && state.problem.reason === "ErrImagePull") container.backOffImage();
    else if (state.kind !== "no image" && state.startsAt !== undefined) this.#runs(container);
    else {
      container.sayBackOff();
      createContainer(container, this.#now, this.#tools);
    }
  }

  #fulfil(container: ContainerRun, life: Life, fate: Fate): void {
    if (fate.kind === "ends") this.#ended(container, life, fate.exitCode, fate.reason);
    else if (fate.kind === "look again") container.apply(container.actual, this.#now);
    else if (fate.kind === "changes") {
      if (fate.unready) this.#unhealthy(container, "Readiness");
    } else {
      this.#unhealthy(container, fate.probe === "startup" ? "Startup" : "Liveness");
      this.restart(container, `Container ${container.name} failed ${fate.probe} probe, will be restarted`);
    }
  }

  #runs(container: ContainerRun): void {
    runContainer(container, this.#pod, this.#instant(), this.#tools);
    this.resize.started();
  }

  #unhealthy(container: ContainerRun, probe: string): void {
    this.#tools.tell({ type: "Warning", reason: "Unhealthy", message: `${probe} probe failed: `, container });
  }

  #ended(container: ContainerRun, life: Life, exitCode: number, reason: "Completed" | "Error" | "OOMKilled" | "Unknown"): void {
    container.end(life.end(this.#instant(), exitCode, reason));
    if (this.isEnding || !startsAgain(container, exitCode, this.#pod) || !container.restartAfterEnd(this.#now)) return;
    const { name, namespace, uid } = this.#pod.metadata;
    const message = `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`;
    this.#tools.tell({ type: "Warning", reason: "BackOff", message, container });
  }

  #sandboxIsReady(): void {
    const ip = this.#tools.addresses.take(this.uid);
    this.sandbox = { kind: "ready", since: this.#instant(), ip, id: runtimeId(this.#tools) };
  }

  #isClean(): void {
    if (this.sandbox.kind === "ready") this.sandbox = { ...this.sandbox, kind: "gone" };
    this.#tools.addresses.giveBack(this.uid);
    this.#cleanAt = never;
    this.#over = true;
  }

  #deadline(): number {
    const { activeDeadlineSeconds } = this.#pod.spec;
    return activeDeadlineSeconds === undefined || this.isEnding ? never : this.startTime.ms + activeDeadlineSeconds * 1_000;
  }

  #deadlineIsOver(): void {
    const failure = { reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline" };
    this.#tools.tell({ type: "Normal", ...failure });
    this.end(this.#graceMs, failure);
  }

  // What to do in the current state.

  #decide(): void {
    if (this.#over) return;
    if (!this.isEnding && isFinished(this.init, this.main)) this.end(this.#graceMs);
    if (this.isEnding) this.#windDown();
    else if (this.sandbox.kind === "none") this.sandbox = { readyAt: this.#now + this.#tools.timing.sandboxMs, ...this.sandbox };
    else for (const container of this.#startable()) createContainer(container, this.#now, this.#tools);
  }

  #startable(): readonly ContainerRun[] {
    for (const container of this.#initialized ? [] : this.init) {
      if (isNew(container)) return [container];
      if (!container.isDone(this.#now)) return [];
    }
    this.#initialized = true;
    return this.main.filter(isNew);
  }

  /** Stops containers first, then sidecars in reverse order, and then cleans up. */
  #windDown(): void {
    const running = this.containers.filter(({ life }) => life !== undefined);
    const first = running.filter(({ role }) => role !== "sidecar");
    const stopping = first.length > 0 ? first : running.slice(-1);
    const left = Math.max((this.#graceEndsAt ?? 0) - this.#now, first.length > 0 ? 0 : leastGraceMs);
    for (const container of stopping) this.#stop(container, left);
    if (running.length === 0) this.#cleanAt = Math.min(this.#cleanAt, this.#now + this.#tools.timing.cleanUpMs);
  }

  #stop(container: ContainerRun, graceMs: number): void {
    if (container.life === undefined || container.life.isStopping) return;
    const { name, spec } = container;
    this.#tools.tell({ type: "Normal", reason: "Killing", message: `Stopping container ${name}`, container });
    container.life.stop({ now: this.#now, graceMs, preStopMs: (spec.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1_000 });
  }

  get #graceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
  }

  #instant(): Instant {
    return instantAt(this.#tools.environment.clock, this.#now);
  }
}

// Restart rules, as pure functions.

/** Whether a container with this exit code restarts. */
function startsAgain({ role, spec }: ContainerRun, exitCode: number, pod: Pod): boolean {
  if (role === "sidecar") return true;
  // A container may have its own restart policy.
  const { restartPolicy = pod.spec.restartPolicy ?? "Always" } = spec;
  return restartPolicy !== "Never" && (exitCode !== 0 || (role === "main" && restartPolicy === "Always"));
}

/** An init container failed for good, or every container has terminated for good. */
export function isFinished(init: readonly ContainerRun[], main: readonly ContainerRun[]): boolean {
  const failed = init.some((container) => container.role === "init" && container.isOver && container.exitCode !== 0);
  return failed || main.every(({ isOver }) => isOver);
}

/** Not created yet. */
export function isNew({ state }: ContainerRun): boolean {
  return state.kind === "waiting" && state.startsAt === undefined;
}
