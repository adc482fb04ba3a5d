// A hollow node and the pods on it. It can lose its power and get it back; as long as it has none, nothing on it moves,
// nobody hears of it, and its metrics are not to be had.
import type { Environment, Pod, Stored } from "@memhog/runtime";
import { podAddresses } from "./addresses.ts";
import { amountsIn, requestsOf, sum } from "./amounts.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { Pull } from "./images.ts";
import type { NodeEvents } from "./node-events.ts";
import type { ResolvedNode } from "./node-spec.ts";
import { PodRun } from "./pod-run.ts";
import type { NodeRemark, PodTools, Room, Timing } from "./pod-tools.ts";
import type { ProgramOf } from "./program/program.ts";
import { notEnough, shortageFor } from "./room.ts";

export interface NodeRunOptions {
  readonly spec: ResolvedNode;
  readonly environment: Environment;
  readonly timing: Timing;
  readonly pull: Pull;
  readonly programOf: ProgramOf | undefined;
  readonly events: NodeEvents;
  readonly heartbeat: Heartbeat;
}

export class NodeRun {
  readonly spec: ResolvedNode;
  /** By UID, in the order they came. */
  readonly pods = new Map<string, PodRun>();
  readonly #options: NodeRunOptions;
  readonly #addresses: PodTools["addresses"];
  #hasPower = true;
  #justBooted = false;

  constructor(options: NodeRunOptions) {
    this.#options = options;
    this.spec = options.spec;
    this.#addresses = podAddresses(options.spec.index);
  }

  get name(): string {
    return this.spec.name;
  }

  get hasPower(): boolean {
    return this.#hasPower;
  }

  /** The pod as it runs here, from the first time it is asked for. `all`: every pod that the API server has on this node. */
  runOf(pod: Stored<Pod>, all: () => readonly Stored<Pod>[]): PodRun {
    const known = this.pods.get(pod.metadata.uid);
    return known ?? this.#take(pod, all);
  }

  /** Nothing of it is left, or nobody wants to know. */
  forget(uid: string): void {
    this.pods.delete(uid);
    this.#addresses.giveBack(uid);
    this.#options.events.forget(uid);
  }

  /** Lets everything happen on this node that was to happen until now. */
  advance(): void {
    const now = this.#options.environment.clock.monotonic();
    if (this.#hasPower) for (const run of this.pods.values()) run.advance(now);
  }

  async losePower(): Promise<void> {
    this.advance();
    this.#hasPower = false;
    await this.#options.heartbeat.stop();
  }

  /** Containers that were running have ended without a trace and start again, as their pods' policies say. */
  async regainPower(): Promise<void> {
    if (this.#hasPower) return;
    const now = this.#options.environment.clock.monotonic();
    this.#hasPower = true;
    this.#justBooted = true;
    for (const run of this.pods.values()) run.crash(now);
    await this.#options.heartbeat.start();
  }

  /** True once after each boot: then all of its pods want to be looked at. */
  takeBoot(): boolean {
    const booted = this.#justBooted;
    this.#justBooted = false;
    return booted;
  }

  #take(pod: Stored<Pod>, all: () => readonly Stored<Pod>[]): PodRun {
    const { environment, timing, pull, programOf, events } = this.#options;
    const tell = (remark: NodeRemark) => events.record(run.pod, this.name, remark);
    const roomFor = (asking: Stored<Pod>) => this.#roomFor(asking, all());
    const run = new PodRun(pod, { environment, timing, pull, programOf, addresses: this.#addresses, tell, roomFor });
    this.pods.set(run.uid, run);
    this.#admit(run, roomFor(pod), tell);
    return run;
  }

  /** The kubelet has the last word on what fits, whoever bound the pod. */
  #admit(run: PodRun, room: Room, tell: PodTools["tell"]): void {
    const requested = requestsOf(run.pod.spec);
    const shortage = shortageFor(requested, room);
    if (shortage === undefined) return;
    const message = notEnough(shortage.resource, requested, room);
    const reason = `OutOf${shortage.resource}`;
    tell({ type: "Warning", reason, message });
    run.reject({ reason, message: `Pod was rejected: ${message}` });
  }

  #roomFor(asking: Stored<Pod>, all: readonly Stored<Pod>[]): Room {
    const others = all.filter((pod) => pod.metadata.uid !== asking.metadata.uid && !isFinished(pod));
    const used = others.map((pod) => {
      const run = this.pods.get(pod.metadata.uid);
      const allocated = new Map(run?.containers.map((container) => [container.name, container.allocated]));
      // One that was not taken yet takes its turn after this one.
      if (run === undefined) return { cpu: 0, memory: 0 };
      return requestsOf(pod.spec, ({ name, resources }) => allocated.get(name) ?? resources);
    });
    return { allocatable: amountsIn(this.spec.allocatable), usedByOthers: sum(used) };
  }
}

/** It will never run again. */
export function isFinished({ status }: Stored<Pod>): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
