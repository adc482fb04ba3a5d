// In-place resize: from what the spec wants, to what is allocated, to what is in force.
//
//     spec ≠ allocated   it fits the node        → allocated = spec, PodResizeInProgress
//                        it does not fit now     → PodResizePending/Deferred: asked again whenever the node changes
//                        it never will           → PodResizePending/Infeasible: until the spec changes
//     allocated ≠ actual a little later          → actual = allocated, the condition goes
//                        a limit below its use   → PodResizeInProgress/Error, the old limit stays, tried again
//                        resizePolicy says so    → the container is restarted with it
import type { ResourceRequirements } from "@memhog/runtime/kinds";
import { memoryLimitIn, requestsOf, type Shortage, sameResources, shortageFor } from "./amounts.ts";
import type { ContainerRun } from "./container-run.ts";
import { type Instant, instantAt } from "./life.ts";
import type { PodRun } from "./pod-run.ts";
import type { PodTools } from "./pod-tools.ts";

/** A condition under construction: since when, and for which generation of the spec. */
export interface ResizeState {
  readonly since: Instant;
  /** When the condition was last evaluated. */
  readonly probed: Instant;
  readonly generation: number;
  readonly reason?: string;
  readonly message?: string;
}

type ResizedPod = Pick<PodRun, "pod" | "containers" | "now" | "isEnding" | "restart">;

const never = Number.POSITIVE_INFINITY;
/** The retry interval after an error; jitter adds up to half of it. */
const afterErrorMs = 10_000;

export class Resize {
  pending: ResizeState | undefined;
  inProgress: ResizeState | undefined;
  #happensAt = never;
  /** An error is reported at the next sync of the pod. */
  #error: string | undefined;
  readonly #run: ResizedPod;
  readonly #tools: PodTools;

  constructor(run: ResizedPod, tools: PodTools) {
    this.#run = run;
    this.#tools = tools;
  }

  due(): number {
    return this.#happensAt;
  }

  /** Called when the spec or the node may have changed. */
  observe(): void {
    if (this.#run.isEnding) {
      this.#forget();
      return;
    }
    if (this.#resizable().every((container) => sameResources(container.spec.resources, container.allocated))) {
      this.pending = undefined;
      return;
    }
    const requested = requestsOf(this.#run.pod.spec);
    const shortage = shortageFor(requested, this.#tools.roomFor(this.#run.pod));
    if (shortage === undefined) this.#allocate();
    else this.#postpone(shortage);
  }

  /** Applies the allocated resources. */
  happen(): void {
    this.#happensAt = never;
    const error = this.#cannotLower();
    if (error === undefined) this.#putIntoForce();
    else this.#fail(error);
  }

  #putIntoForce(): void {
    const { now } = this.#run;
    for (const container of this.#resizable()) {
      if (sameResources(container.actual, container.allocated) || container.actual === undefined) continue;
      if (container.life !== undefined && needsRestart(container)) this.#restart(container);
      else this.#apply(container, now);
    }
    this.#completeIfDone();
  }

  /** A container has restarted with its allocated resources. */
  started(): void {
    if (this.inProgress !== undefined) this.#completeIfDone();
  }

  #allocate(): void {
    const { now, pod } = this.#run;
    for (const container of this.#resizable()) container.allocated = container.spec.resources ?? {};
    const at = this.#instant();
    this.pending = undefined;
    this.inProgress = { since: at, probed: at, generation: pod.metadata.generation ?? 0 };
    this.#error = undefined;
    this.#happensAt = now + this.#tools.timing.resizeMs;
    this.#tell("Normal", "ResizeStarted", "Pod resize started");
  }

  #postpone({ forever, message, resource }: Shortage): void {
    const reason = forever ? "Infeasible" : "Deferred";
    const { pending } = this;
    const generation = this.#run.pod.metadata.generation ?? 0;
    if (pending?.reason === reason && pending.generation === generation && pending.message === message) return;
    const at = this.#instant();
    this.pending = { since: pending?.reason === reason ? pending.since : at, probed: at, generation, reason, message };
    if (pending?.reason === reason && pending.generation === generation) return;
    const words = forever ? "Pod resize infeasible" : `Pod resize OutOf${resource}`;
    this.#tell("Warning", `Resize${reason}`, words, message);
  }

  /** The kubelet's check before it lowers a limit: the new limit must not cause an OOM kill. */
  #cannotLower(): string | undefined {
    const { now } = this.#run;
    const lowered = this.#resizable().filter(({ actual, allocated }) => memoryLimitIn(allocated) < memoryLimitIn(actual));
    const running = lowered.filter((container) => container.life !== undefined && !needsRestart(container));
    const problems = running.flatMap((container) => {
      const limit = memoryLimitIn(container.allocated);
      const usage = container.life?.usage(now) ?? 0;
      return usage < limit
        ? []
        : [`attempting to set container "${container.name}" memory limit (${limit}) below current usage (${usage})`];
    });
    if (problems.length === 0) return undefined;
    const all = [...this.#podLimitProblem(now), ...problems];
    return `cannot decrease memory limits: ${all.length === 1 ? all[0] : `[${all.join(", ")}]`}`;
  }

  /** A pod has its own limit if all of its containers have one. */
  #podLimitProblem(now: number): readonly string[] {
    const limit = this.#resizable().reduce((total, { allocated }) => total + memoryLimitIn(allocated), 0);
    const usage = this.#resizable().reduce((total, { life }) => total + (life?.usage(now) ?? 0), 0);
    return usage < limit ? [] : [`attempting to set pod memory limit (${limit}) below current usage (${usage})`];
  }

  #fail(error: string): void {
    const { now } = this.#run;
    const { random } = this.#tools.environment;
    this.#happensAt = now + afterErrorMs * (1 + 0.5 * random());
    if (this.inProgress === undefined) return;
    if (this.#error === undefined) this.#tell("Warning", "ResizeError", "Pod resize error", error);
    else this.inProgress = { ...this.inProgress, probed: this.#instant(), reason: "Error", message: error };
    this.#error = error;
  }

  #apply(container: ContainerRun, now: number): void {
    container.apply(container.allocated, now);
    // The back-off treats changed resources as another container, so a waiting container may start immediately.
    if (container.state.kind === "ended" && container.state.restartsAt !== undefined) container.restartAfterEnd(now);
  }

  #restart(container: ContainerRun): void {
    this.#run.restart(container, `Container ${container.name} resize requires restart`);
  }

  #completeIfDone(): void {
    const done = this.#resizable().every(({ actual, allocated }) => actual === undefined || sameResources(actual, allocated));
    if (!done || this.inProgress === undefined) return;
    this.inProgress = undefined;
    this.#error = undefined;
    this.#tell("Normal", "ResizeCompleted", "Pod resize completed");
  }

  #forget(): void {
    this.pending = undefined;
    this.inProgress = undefined;
    this.#happensAt = never;
  }

  #resizable(): readonly ContainerRun[] {
    return this.#run.containers.filter(({ role }) => role !== "init");
  }

  #tell(type: "Normal" | "Warning", reason: string, words: string, error?: string): void {
    const containers = this.#run.containers
      .filter(({ role }) => role === "main")
      .map(({ name, spec }) => ({ name, resources: inOrder(spec.resources) }));
    const details = { containers, generation: this.#run.pod.metadata.generation, ...(error !== undefined && { error }) };
    this.#tools.tell({ type, reason, message: `${words}: ${JSON.stringify(details)}` });
  }

  #instant(): Instant {
    return instantAt(this.#tools.environment.clock, this.#run.now);
  }
}

/** Only the policies of changed resources count. */
function needsRestart({ spec, actual, allocated }: ContainerRun): boolean {
  const changes = (name: string) =>
    (["requests", "limits"] as const).some(
      (part) => !sameResources({ [part]: pick(actual?.[part], name) }, { [part]: pick(allocated[part], name) }),
    );
  return (spec.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) => restartPolicy === "RestartContainer" && changes(resourceName),
  );
}

function pick(list: ResourceRequirements["limits"], name: string): NonNullable<ResourceRequirements["limits"]> {
  const amount = list?.[name];
  return amount === undefined ? {} : { [name]: amount };
}

/** As Go prints it. */
function inOrder({ limits, requests }: ResourceRequirements = {}): ResourceRequirements {
  return { ...(limits && { limits }), ...(requests && { requests }) };
}
