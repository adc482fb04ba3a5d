// One container of a pod and its restarts: waiting, being created, running, terminated, waiting for the next start. It knows when
// its next change is due. What follows for the pod (what starts next, whether the container restarts) is decided in pod-run.ts.
import type { Pod } from "@memhog/runtime";
import type { Container, ResourceRequirements } from "@memhog/runtime/kinds";
import { isSidecar, memoryLimitIn } from "./amounts.ts";
import { type Ended, type Fate, type Instant, Life } from "./life.ts";
import type { PodTools } from "./pod-tools.ts";
import { type Program, programFor } from "./program.ts";

export type Role = "init" | "sidecar" | "main";

/** The state of a container. Times are of the monotonic clock. */
export type ContainerState =
  /** Not run yet. `startsAt`: being created. */
  | { readonly kind: "waiting"; readonly startsAt?: number }
  /** The image cannot be pulled. The reason is first the error, later ImagePullBackOff. */
  | { readonly kind: "no image"; readonly problem: ImageProblem; readonly backsOffAt: number; readonly triesAgainAt: number }
  | { readonly kind: "running"; readonly life: Life }
  | EndedState;

/** Restarts at `restartsAt`, if at all; `startsAt`: being created again. */
interface EndedState {
  readonly kind: "ended";
  readonly restartsAt?: number;
  readonly startsAt?: number;
  /** The container has to wait, and the kubelet has reported it. */
  readonly waits?: boolean;
  readonly saysBackOff?: boolean;
}

interface ImageProblem {
  readonly reason: "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull";
  readonly message: string;
}

export class ContainerRun {
  readonly role: Role;
  readonly backOff: CrashBackOff;
  /** The container in the current spec of the pod. */
  spec: Container;
  state: ContainerState = { kind: "waiting" };
  /** The terminations of its runs, the last first. A status shows at most two. */
  ended: readonly Ended[] = [];
  restartCount = 0;
  /** The kubelet is stopping it to restart it. */
  killed = false;
  /** The allocated resources. */
  allocated: ResourceRequirements;
  /** The actual resources; undefined until the container is created. */
  actual: ResourceRequirements | undefined;
  /** The actual memory limit in bytes; Infinity without one. */
  memoryLimit = Number.POSITIVE_INFINITY;
  #imageFailures = 0;
  /** Whether the previous run counts for the back-off. */
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

  /** The fieldPath of its events. */
  get fieldPath(): string {
    return `spec.${this.role === "main" ? "containers" : "initContainers"}{${this.name}}`;
  }

  get life(): Life | undefined {
    return this.state.kind === "running" ? this.state.life : undefined;
  }

  /** Not running, and it will not run again. */
  get isOver(): boolean {
    return this.state.kind === "ended" && this.state.restartsAt === undefined && this.state.startsAt === undefined;
  }

  get exitCode(): number | undefined {
    return this.state.kind === "ended" ? this.ended[0]?.exitCode : undefined;
  }

  /** Whether the next containers may start. */
  isDone(now: number): boolean {
    return this.role === "sidecar" ? (this.life?.isStarted(now) ?? false) : this.exitCode === 0;
  }

  isReady(now: number): boolean {
    if (this.role === "init") return this.exitCode === 0;
    return this.life?.isReady(now) ?? false;
  }

  /** The time of the next change; Infinity if there is none. */
  due(since: number): number {
    const { state } = this;
    if (state.kind === "running") return state.life.next(since).at;
    if (state.kind === "no image") return state.problem.reason === "ErrImagePull" ? state.backsOffAt : state.triesAgainAt;
    return state.startsAt ?? (state.kind === "ended" ? state.restartsAt : undefined) ?? Number.POSITIVE_INFINITY;
  }

  fate(since: number): Fate | undefined {
    return this.life?.next(since);
  }

  /** Starts to create the container. */
  create(startsAt: number): void {
    this.actual = this.allocated;
    this.memoryLimit = memoryLimitIn(this.actual);
    this.backOff.become(JSON.stringify(this.allocated));
    this.state = this.state.kind === "ended" ? { ...this.state, startsAt } : { kind: "waiting", startsAt };
  }

  /** The container is created and runs. */
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

  /** The container has terminated and will restart, after the back-off (CrashBackOff). False: immediately. */
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

  /** The pod was synced while the container waits: from now on its status shows the reason. */
  sayBackOff(): void {
    const { state } = this;
    if (state.kind === "ended" && state.waits && !state.saysBackOff) this.state = { ...state, saysBackOff: true };
  }

  /** The image cannot be pulled: retries after 10 s, 20 s … 5 min and reports ImagePullBackOff in between. */
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

  /** The container will not run again. */
  giveUp(): void {
    if (this.state.kind === "ended") this.state = { kind: "ended" };
    else if (this.state.kind === "waiting") this.state = { kind: "waiting" };
    else if (this.state.kind === "no image")
      this.state = { ...this.state, backsOffAt: Number.POSITIVE_INFINITY, triesAgainAt: Number.POSITIVE_INFINITY };
  }

  /** Sets the actual resources. */
  apply(resources: ResourceRequirements | undefined, now: number): void {
    this.actual = resources;
    this.memoryLimit = memoryLimitIn(resources);
    this.life?.limit(this.memoryLimit, now);
  }
}

// Starts a container: image, creation, program, and the events that `kubectl describe pod` shows.

/** Starts to create a container if its image can be pulled. */
export function createContainer(container: ContainerRun, now: number, { tell, timing, pull }: PodTools): void {
  const { image = "", imagePullPolicy } = container.spec;
  const { tookMs = 0, error } = pull(image) ?? {};
  if (error !== undefined && imagePullPolicy === "Never") {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    tell({ type: "Warning", reason: "ErrImageNeverPull", message, container });
    tell({ type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull", container });
    container.neverPull(message);
    return;
  }
  if (error !== undefined || tookMs > 0)
    tell({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"`, container });
  if (error !== undefined) {
    tell({ type: "Warning", reason: "Failed", message: `Failed to pull image "${image}": ${error}`, container });
    tell({ type: "Warning", reason: "Failed", message: "Error: ErrImagePull", container });
    container.missImage(error, now);
    return;
  }
  tell({ type: "Normal", reason: "Pulled", message: pulledIn(image, tookMs), container });
  tell({ type: "Normal", reason: "Created", message: "Container created", container });
  container.create(now + tookMs + timing.createMs);
}

/** Runs a created container. */
export function runContainer(container: ContainerRun, pod: Pod, at: Instant, tools: PodTools): void {
  container.run({ containerId: runtimeId(tools), program: programOf(container, pod, tools), at });
  tools.tell({ type: "Normal", reason: "Started", message: "Container started", container });
}

function programOf(container: ContainerRun, pod: Pod, { environment, programOf, tell }: PodTools): Program {
  const seed = Math.floor(environment.random() * 2 ** 32);
  return programFor(pod, container.spec, {
    programOf,
    seed,
    onAnnotationError: ({ annotation, message }) =>
      tell({ type: "Warning", reason: "NotUnderstood", message: `${annotation}: ${message}`, container }),
  });
}

/** 64 hexadecimal digits, as in containerd. */
export function runtimeId({ environment }: Pick<PodTools, "environment">): string {
  return `${environment.uuid()}${environment.uuid()}`.replaceAll("-", "");
}

function pulledIn(image: string, tookMs: number): string {
  if (tookMs === 0) return `Container image "${image}" already present on machine and can be accessed by the pod`;
  const took = `${tookMs / 1_000}s`;
  return `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 0 bytes.`;
}

// CrashLoopBackOff, as the kubelet computes it: the first restart is immediate, then 10 s after the end, 20 s, 40 s … 5 min. It
// resets after ten minutes without a restart, and when the resources change.
//
//     ends by itself at     0 s    3 s    16 s    40 s
//     starts again at       0 s   13 s    36 s    80 s      (each up to 50 % later, because of jitter)
//
// When the kubelet kills a container itself (failed probe, resize with restart), it does not count the run it has just ended,
// because that was still running when it looked. So the first two such kills are followed by an immediate start.

const initialMs = 10_000;
const longestMs = 300_000;
const forgottenAfterMs = 2 * longestMs;

interface Entry {
  readonly delayMs: number;
  readonly lastStart: number;
}

export class CrashBackOff {
  readonly #random: () => number;
  #entry: Entry | undefined;
  #key = "";

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The kubelet treats a changed container as another one, without a history. */
  become(key: string): void {
    if (key !== this.#key) this.#entry = undefined;
    this.#key = key;
  }

  /** The current delay in milliseconds; 0: none. */
  get delayMs(): number {
    return this.#entry?.delayMs ?? 0;
  }

  /** Whether the restart after this termination must wait; undefined: no run counts. */
  holds(endedAt: number | undefined, now: number): boolean {
    const entry = this.#entryAt(now);
    return endedAt !== undefined && entry !== undefined && now - endedAt < entry.delayMs;
  }

  /** The time of the restart after this termination; never before `now`. */
  startAfter(endedAt: number, now: number): number {
    const left = this.holds(endedAt, now) ? endedAt + this.delayMs - now : 0;
    return now + Math.ceil(left * (1 + 0.5 * this.#random()));
  }

  /** Restarts after a run that counted: the next delay is longer. */
  started(now: number): void {
    const before = this.#entryAt(now);
    const delayMs = before === undefined ? initialMs : Math.min(before.delayMs * 2, longestMs);
    this.#entry = { delayMs, lastStart: now };
  }

  #entryAt(now: number): Entry | undefined {
    return this.#entry !== undefined && now - this.#entry.lastStart > forgottenAfterMs ? undefined : this.#entry;
  }
}
