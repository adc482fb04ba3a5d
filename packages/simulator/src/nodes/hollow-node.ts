// A hollow node as tests and Prometheus see it from outside.
import type { Environment, ObjectRef } from "@memhog/runtime";
import { formatExposition, type Sample } from "../prometheus/exposition.ts";
import type { Cadvisor } from "./cadvisor/cadvisor.ts";
import { help } from "./cadvisor/cgroup.ts";
import type { NodeRun } from "./node-run.ts";

/** A node without power answers nothing. */
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

  /** Everything on it stops at this moment, and nobody is told. */
  losePower(): Promise<void> {
    return this.#run.losePower();
  }

  /** It boots: containers that ran have ended somehow, and start again. */
  regainPower(): Promise<void> {
    return this.#run.regainPower();
  }

  /** What a scrape of /metrics/cadvisor finds now. @throws NodeDownError */
  samples(): readonly Sample[] {
    if (!this.hasPower) throw new NodeDownError(this.name);
    return this.#cadvisor.samples();
  }

  /** The same as text. @throws NodeDownError */
  metricsText(): string {
    return formatExposition(this.samples(), help);
  }

  /** What a container really uses at this moment, in bytes; undefined if it does not run here. For tests: nobody else knows. */
  usageOf(pod: ObjectRef, container: string): number | undefined {
    this.#run.advance();
    const runs = [...this.#run.pods.values()];
    const run = runs.find(({ pod: { metadata } }) => metadata.name === pod.name && metadata.namespace === pod.namespace);
    const life = run?.containers.find(({ name }) => name === container)?.life;
    return life?.usage(this.#environment.clock.monotonic());
  }
}
