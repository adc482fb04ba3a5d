// The controllers of an operator as one. They share caches and a client; they start together and stop together, once.
import { SharedCaches } from "../cache/shared-caches.ts";
import type { Controller } from "../controller/definition.ts";
import { type ControllerDependencies, ControllerRunner } from "../controller/runner.ts";

export interface TeamOptions extends Omit<ControllerDependencies, "caches"> {
  readonly controllers: readonly Controller[];
  readonly namespaces: readonly string[] | "all";
}

export class Team {
  readonly caches: SharedCaches;
  readonly runners: readonly ControllerRunner[];
  #stopped: Promise<void> | undefined;

  constructor(options: TeamOptions) {
    const { controllers, client, namespaces, environment, log } = options;
    this.caches = new SharedCaches({ client, namespaces, environment, log });
    this.runners = controllers.map((controller) => new ControllerRunner(controller, { ...options, caches: this.caches }));
  }

  /** Opens caches and begins to listen; nothing is reconciled yet. */
  start(): void {
    for (const runner of this.runners) runner.start();
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.runners.map((runner) => runner.whenSynced(signal)));
  }

  /** True, or which caches are not right. */
  get synced(): true | string {
    const behind = this.caches.status().filter(({ state }) => state !== "live");
    if (behind.length === 0) return true;
    return behind
      .map(({ resource, namespace }) => `${resource}${namespace === undefined ? "" : ` in ${namespace}`} not synced`)
      .join(", ");
  }

  work(): void {
    for (const runner of this.runners) runner.work();
  }

  /** Takes no more work, lets what is under way finish until the signal aborts, then aborts it. Only the first call counts. */
  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= Promise.all(this.runners.map((runner) => runner.stop(signal))).then(() => {});
    return this.#stopped;
  }
}
