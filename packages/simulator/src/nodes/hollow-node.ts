// One hollow node and its pods. A node can lose its power and regain it. Without power nothing on it changes, it sends no
// heartbeats and serves no metrics.
import type { Environment, ObjectRef, Pod, Stored } from "@memhog/runtime";
import { formatExposition, type Sample } from "../prometheus/exposition.ts";
import { amountsIn, notEnough, requestsOf, shortageFor, sum } from "./amounts.ts";
import { type Cadvisor, help } from "./cadvisor.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { NodeEvents } from "./node-events.ts";
import type { ResolvedNode } from "./node-spec.ts";
import { PodRun } from "./pod-run.ts";
import { type NodeRemark, type PodTools, type Pull, podAddresses, type Room, type Timing } from "./pod-tools.ts";
import type { ProgramOf } from "./program.ts";

/** A node without power does not respond. */
export class NodeDownError extends Error {
  readonly code = "SIMULATOR_NODE_DOWN";
  override readonly name = "NodeDownError";
  constructor(node: string) {
    super(`${node} does not answer: it has no power`);
  }
}

export class HollowNode {
  readonly #run: NodeRun;
  readonly #cadvisor: Cadvisor;
  readonly #environment: Environment;

  constructor(run: NodeRun, cadvisor: Cadvisor, { environment }: { readonly environment: Environment }) {
    this.#run = run;
    this.#cadvisor = cadvisor;
    this.#environment = environment;
  }

  get name(): string {
    return this.#run.name;
  }

  get hasPower(): boolean {
    return this.#run.hasPower;
  }

  /** Stops everything on the node immediately. The API server is not informed. */
  losePower(): Promise<void> {
    return this.#run.losePower();
  }

  /** Boots the node: containers that were running have terminated and restart. */
  regainPower(): Promise<void> {
    return this.#run.regainPower();
  }

  /** The samples of /metrics/cadvisor at this time. @throws NodeDownError */
  samples(): readonly Sample[] {
    if (!this.hasPower) throw new NodeDownError(this.name);
    return this.#cadvisor.samples();
  }

  /** The samples as text. @throws NodeDownError */
  metricsText(): string {
    return formatExposition(this.samples(), help);
  }

  /** The current memory usage of a container in bytes; undefined if it does not run here. For tests only. */
  usageOf(pod: ObjectRef, container: string): number | undefined {
    this.#run.advance();
    const runs = [...this.#run.pods.values()];
    const run = runs.find(({ pod: { metadata } }) => metadata.name === pod.name && metadata.namespace === pod.namespace);
    const life = run?.containers.find(({ name }) => name === container)?.life;
    return life?.usage(this.#environment.clock.monotonic());
  }
}

// The node itself.

interface NodeRunOptions {
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
  /** By UID, in order of arrival. */
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

  /** The run of this pod, created on first use. `all`: every pod that the API server has bound to this node. */
  runOf(pod: Stored<Pod>, all: () => readonly Stored<Pod>[]): PodRun {
    const known = this.pods.get(pod.metadata.uid);
    return known ?? this.#take(pod, all);
  }

  /** The pod is cleaned up or no longer of interest. */
  forget(uid: string): void {
    this.pods.delete(uid);
    this.#addresses.giveBack(uid);
    this.#options.events.forget(uid);
  }

  /** Applies all changes on this node that are due. */
  advance(): void {
    const now = this.#options.environment.clock.monotonic();
    if (this.#hasPower) for (const run of this.pods.values()) run.advance(now);
  }

  async losePower(): Promise<void> {
    this.advance();
    this.#hasPower = false;
    await this.#options.heartbeat.stop();
  }

  /** Running containers have terminated with an unknown status. They restart according to the policies of their pods. */
  async regainPower(): Promise<void> {
    if (this.#hasPower) return;
    const now = this.#options.environment.clock.monotonic();
    this.#hasPower = true;
    this.#justBooted = true;
    for (const run of this.pods.values()) run.crash(now);
    await this.#options.heartbeat.start();
  }

  /** True once after each boot. Then all pods of the node must be reconciled. */
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

  /** The kubelet rejects pods that do not fit, even if another scheduler bound them. */
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
      // A pod that is not admitted yet is admitted after this one.
      if (run === undefined) return { cpu: 0, memory: 0 };
      return requestsOf(pod.spec, ({ name, resources }) => allocated.get(name) ?? resources);
    });
    return { allocatable: amountsIn(this.spec.allocatable), usedByOthers: sum(used) };
  }
}

/** The pod will never run again. */
export function isFinished({ status }: Stored<Pod>): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
