// One container of a pod, over all of its lives: waiting, being created, running, ended, waiting to start again. It knows
// when something will happen to it next; what that means for the pod (who starts after it, whether it starts again) is
// decided in pod-run.ts.
import type { Container, ResourceRequirements } from "@memhog/runtime";
import { isSidecar, memoryLimitIn } from "./amounts.ts";
import { CrashBackOff } from "./crash-back-off.ts";
import type { Instant } from "./instant.ts";
import { type Ended, type Fate, Life } from "./life.ts";
import type { Program } from "./program/program.ts";

export type Role = "init" | "sidecar" | "main";

/** Where a container stands. Times are of the monotonic clock. */
export type ContainerState =
  /** It has not run yet. `startsAt`: it is being created. */
  | { readonly kind: "waiting"; readonly startsAt?: number }
  /** Its image cannot be had. First the reason is the failure, later that we no longer try all the time. */
  | { readonly kind: "no image"; readonly problem: ImageProblem; readonly backsOffAt: number; readonly triesAgainAt: number }
  | { readonly kind: "running"; readonly life: Life }
  | EndedState;

/** It will start again at `restartsAt`, if at all; `startsAt`: it is being created once more. */
interface EndedState {
  readonly kind: "ended";
  readonly restartsAt?: number;
  readonly startsAt?: number;
  /** It has to wait; and the kubelet has come around to saying so. */
  readonly waits?: boolean;
  readonly saysBackOff?: boolean;
}

export interface ImageProblem {
  readonly reason: "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull";
  readonly message: string;
}

export class ContainerRun {
  readonly role: Role;
  readonly backOff: CrashBackOff;
  /** As the pod has it now. */
  spec: Container;
  state: ContainerState = { kind: "waiting" };
  /** How its lives ended, the last first; two are enough for a status. */
  ended: readonly Ended[] = [];
  restartCount = 0;
  /** The kubelet is killing it in order to start it again. */
  killed = false;
  /** What was admitted. */
  allocated: ResourceRequirements;
  /** What is in force; undefined until it is created. */
  actual: ResourceRequirements | undefined;
  /** In force, in bytes; Infinity without one. */
  memoryLimit = Number.POSITIVE_INFINITY;
  #imageFailures = 0;
  /** Whether it starts after a life that counts for its back-off. */
  #counted = false;

  constructor(spec: Container, role: "init" | "main", random: () => number) {
    this.spec = spec;
    this.allocated = spec.resources ?? {};
    this.role = role === "init" && isSidecar(spec) ? "sidecar" : role;
    this.backOff = new CrashBackOff(random);
  }

  get name(): string {
    return this.spec.name;
  }

  /** Where events about it point. */
  get fieldPath(): string {
    return `spec.${this.role === "main" ? "containers" : "initContainers"}{${this.name}}`;
  }

  get life(): Life | undefined {
    return this.state.kind === "running" ? this.state.life : undefined;
  }

  /** It is not running, and nothing will make it run. */
  get isOver(): boolean {
    return this.state.kind === "ended" && this.state.restartsAt === undefined && this.state.startsAt === undefined;
  }

  get exitCode(): number | undefined {
    return this.state.kind === "ended" ? this.ended[0]?.exitCode : undefined;
  }

  /** Whether the containers after it may start. */
  isDone(now: number): boolean {
    return this.role === "sidecar" ? (this.life?.isStarted(now) ?? false) : this.exitCode === 0;
  }

  isReady(now: number): boolean {
    if (this.role === "init") return this.exitCode === 0;
    return this.life?.isReady(now) ?? false;
  }

  /** When something happens to it next; Infinity: nothing will. */
  due(since: number): number {
    const { state } = this;
    if (state.kind === "running") return state.life.next(since).at;
    if (state.kind === "no image") return state.problem.reason === "ErrImagePull" ? state.backsOffAt : state.triesAgainAt;
    return state.startsAt ?? (state.kind === "ended" ? state.restartsAt : undefined) ?? Number.POSITIVE_INFINITY;
  }

  fate(since: number): Fate | undefined {
    return this.life?.next(since);
  }

  /** Begins to create it. */
  create(startsAt: number): void {
    this.actual = this.allocated;
    this.memoryLimit = memoryLimitIn(this.actual);
    this.backOff.become(JSON.stringify(this.allocated));
    this.state = this.state.kind === "ended" ? { ...this.state, startsAt } : { kind: "waiting", startsAt };
  }

  /** It is created, and runs. */
  run({ containerId, program, at }: { readonly containerId: string; readonly program: Program; readonly at: Instant }): void {
    if (this.ended.length > 0) this.restartCount += 1;
    if (this.#counted) this.backOff.started(at.ms);
    this.#imageFailures = 0;
    const { memoryLimit } = this;
    this.state = { kind: "running", life: new Life({ containerId, spec: this.spec, program, startedAt: at, memoryLimit }) };
  }

  end(ended: Ended): void {
    this.ended = [ended, ...this.ended.slice(0, 1)];
    this.state = { kind: "ended" };
  }

  /** It has ended and will start again; after how long, see crash-back-off.ts. False: it may at once. */
  restartAfterEnd(now: number): boolean {
    const [last, before] = this.ended;
    const counted = (this.killed ? before : last)?.finishedAt.ms;
    this.backOff.become(JSON.stringify(this.allocated));
    const waits = this.backOff.holds(counted, now);
    this.#counted = counted !== undefined;
    this.state = { kind: "ended", restartsAt: waits ? this.backOff.startAfter(last?.finishedAt.ms ?? now, now) : now, waits };
    if (this.killed) this.sayBackOff();
    this.killed = false;
    return waits;
  }

  /** Somebody looked at the pod while this one waits: from now on its status says why. */
  sayBackOff(): void {
    const { state } = this;
    if (state.kind === "ended" && state.waits && !state.saysBackOff) this.state = { ...state, saysBackOff: true };
  }

  /** The image cannot be had: try again after 10 s, 20 s … 5 min, and say in between that we wait. */
  missImage(message: string, now: number): void {
    const delayMs = Math.min(10_000 * 2 ** this.#imageFailures, 300_000);
    this.#imageFailures += 1;
    const problem: ImageProblem = { reason: "ErrImagePull", message };
    this.state = { kind: "no image", problem, backsOffAt: now + delayMs / 2, triesAgainAt: now + delayMs };
  }

  neverPull(message: string): void {
    const never = Number.POSITIVE_INFINITY;
    this.state = { kind: "no image", problem: { reason: "ErrImageNeverPull", message }, backsOffAt: never, triesAgainAt: never };
  }

  backOffImage(): void {
    if (this.state.kind !== "no image") return;
    const message = `Back-off pulling image "${this.spec.image}": ErrImagePull: ${this.state.problem.message}`;
    this.state = { ...this.state, problem: { reason: "ImagePullBackOff", message } };
  }

  /** Nothing more will come of it. */
  giveUp(): void {
    if (this.state.kind === "ended") this.state = { kind: "ended" };
    else if (this.state.kind === "waiting") this.state = { kind: "waiting" };
    else if (this.state.kind === "no image")
      this.state = { ...this.state, backsOffAt: Number.POSITIVE_INFINITY, triesAgainAt: Number.POSITIVE_INFINITY };
  }

  /** Other resources are in force. */
  apply(resources: ResourceRequirements | undefined, now: number): void {
    this.actual = resources;
    this.memoryLimit = memoryLimitIn(resources);
    this.life?.limit(this.memoryLimit, now);
  }
}
