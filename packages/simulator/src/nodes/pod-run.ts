// One pod on a node, from the moment the node sees it until nothing of it is left. This is the kubelet's trade: what may
// start now, what starts again, what is stopped, and when all of it is over.
//
//     sandbox → init containers, one after the other (sidecars among them go on running) → containers → …
//     … → nothing left to run, the deadline, or deletion: containers stop, then sidecars in reverse → clean up → over
//
// Everything that will happen has a time, and `advance` lets it happen in order up to now, however late it is called: a
// node that could not reach the API server for a minute then shows what its containers did in that minute. What happens is
// told through `tell` (events); what the API server hears of it is computed from the state (pod-status.ts).
import type { Pod, Stored } from "@memhog/runtime";
import { ContainerRun } from "./container-run.ts";
import { createContainer, runContainer, runtimeId } from "./container-start.ts";
import { type Instant, instantAt } from "./instant.ts";
import type { Fate, Life } from "./life.ts";
import { isFinished, isNew, startsAgain } from "./pod-rules.ts";
import type { PodTools } from "./pod-tools.ts";
import { Resize } from "./resize.ts";

export type Sandbox =
  | { readonly kind: "none"; readonly readyAt?: number }
  | { readonly kind: "ready" | "gone"; readonly since: Instant; readonly ip: string; readonly id: string };

/** Why a pod as a whole is failed, in the words of the API. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** Sidecars get at least this long, whatever the containers before them left of the grace. */
const leastGraceMs = 2_000;
const never = Number.POSITIVE_INFINITY;

export class PodRun {
  readonly startTime: Instant;
  readonly init: readonly ContainerRun[];
  readonly main: readonly ContainerRun[];
  readonly resize: Resize;
  sandbox: Sandbox = { kind: "none" };
  failure: Failure | undefined;
  /** The API server was asked to let it go. */
  isRemoved = false;
  isRejected = false;
  #pod: Stored<Pod>;
  #initialized = false;
  /** When the grace of what is being stopped ends; undefined: nothing is. */
  #graceEndsAt: number | undefined;
  #cleanAt = never;
  #over = false;
  /** Up to here everything has happened. */
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

  /** Everything has ended for good, or is about to. */
  get isEnding(): boolean {
    return this.#graceEndsAt !== undefined;
  }

  /** Nothing is left: its last status is final. */
  get isOver(): boolean {
    return this.#over;
  }

  get isDeleted(): boolean {
    return this.#pod.metadata.deletionTimestamp !== undefined;
  }

  /** When something will happen next; Infinity: nothing, until somebody changes the pod. */
  due(): number {
    if (this.#over) return never;
    const ofSandbox = this.sandbox.kind === "none" ? (this.sandbox.readyAt ?? never) : never;
    const ofContainers = this.containers.map((container) => container.due(this.#now));
    return Math.min(ofSandbox, this.#cleanAt, this.#deadline(), this.resize.due(), ...ofContainers);
  }

  /** Lets everything happen that was to happen until this time. */
  advance(to: number): void {
    for (let due = this.due(); due <= to; due = this.due()) {
      const since = this.#now;
      this.#now = Math.max(since, due);
      this.#happen(since);
      this.#decide();
    }
    this.#now = Math.max(this.#now, to);
  }

  /** The pod as the API server has it now. */
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

  /** Stops everything, for good. A second call may shorten the grace. */
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

  /** The node does not take it at all. */
  reject(failure: Failure): void {
    this.failure = failure;
    this.isRejected = true;
    this.#graceEndsAt = this.#now;
    this.#over = true;
  }

  /** The machine was without power until now: nothing runs, and nobody was told how it ended. */
  crash(now: number): void {
    this.#now = now;
    for (const container of this.containers) {
      if (container.life !== undefined) this.#ended(container, container.life, 255, "Unknown");
      else if (container.state.kind === "ended" && !container.isOver) container.restartAfterEnd(now);
    }
    this.#decide();
  }

  /** Stops one container so that it starts again. */
  restart(container: ContainerRun, message: string): void {
    if (container.life === undefined || container.life.isStopping) return;
    this.#tools.tell({ type: "Normal", reason: "Killing", message, container });
    container.killed = true;
    container.life.stop({ now: this.#now, graceMs: this.#graceMs });
  }

  // What happens, at #now.

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

  // What is to be done, as things stand.

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

  /** First all containers, then sidecars, the last first; and when nothing runs any more, the rest is cleaned up. */
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
