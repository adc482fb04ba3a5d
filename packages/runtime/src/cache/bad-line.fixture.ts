// For tests only: the line to a scripted API, with the faults that have no error: what is sent disappears, or what comes
// back does. Deadlines are the client's own, on a manual clock, so that hours of silence pass in a moment.
import type { Client, ListOptions, ObjectList, ScanOptions, WatchEvent, WatchOptions } from "../client/client.ts";
import { BrokenStreamError, IdleWatchError, TimeoutError } from "../client/errors.ts";
import { idleWatchdog } from "../client/watch/idle.ts";
import { anySignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import type { ScriptedApi } from "./scripted-api.fixture.ts";

/** "half-open": nothing passes, in either direction. "mute": a watch is accepted, and nothing comes on it. */
type Fault = "none" | "half-open" | "mute";

interface Line {
  dead: boolean;
}

export class BadLine implements Pick<Client, "list" | "watch" | "scan"> {
  /** Cuts a watch on which nothing has come for so long, as load balancers do. */
  cutsIdleAfterMs = Number.POSITIVE_INFINITY;
  /** How many requests there were, answered or not. */
  asked = 0;
  readonly #api: ScriptedApi;
  readonly #clock: Clock;
  readonly #lines = new Set<Line>();
  #fault: Fault = "none";

  constructor(api: ScriptedApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** What is dead stays dead, whatever comes next: only new requests notice that the fault has ended. */
  set fault(fault: Fault) {
    this.#fault = fault;
    if (fault === "half-open") for (const line of this.#lines) line.dead = true;
  }

  async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    this.asked += 1;
    if (this.#fault === "half-open") await this.#unanswered(options);
    return this.#api.list(kind, options);
  }

  async scan<T extends KubernetesObject>(kind: Kind<T>, take: (object: Stored<T>) => void, options: ScanOptions<T> = {}) {
    const { namespace, timeoutMs, signal, project = (object) => object } = options;
    const { items, metadata } = await this.list(kind, { namespace, timeoutMs, signal });
    for (const object of items) take(project(object));
    return metadata;
  }

  async *watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions<T> = {}): AsyncGenerator<WatchEvent<T>, void> {
    this.asked += 1;
    if (this.#fault === "half-open") await this.#unanswered(options);
    const line: Line = { dead: this.#fault === "mute" };
    this.#lines.add(line);
    using idle = idleWatchdog(this.#clock, options.idleMs ?? 120_000, "watch");
    using balancer = idleWatchdog(this.#clock, this.cutsIdleAfterMs, "watch");
    const polite = new AbortController();
    const cancel = this.#clock.after((options.timeoutSeconds ?? 300) * 1_000, () => line.dead || polite.abort());
    using signal = anySignal([options.signal, idle.signal, balancer.signal, polite.signal]);
    try {
      for await (const event of this.#api.watch(kind, { ...options, signal: signal.signal })) {
        if (line.dead) continue;
        for (const watchdog of [idle, balancer]) watchdog.listen();
        yield event;
      }
    } catch (error) {
      if (polite.signal.aborted) return;
      if (idle.signal.aborted) throw new IdleWatchError("nothing came");
      throw balancer.signal.aborted ? new BrokenStreamError("cut by the load balancer") : error;
    } finally {
      cancel();
      this.#lines.delete(line);
    }
  }

  async #unanswered({ timeoutMs = 30_000, signal }: Pick<ListOptions, "timeoutMs" | "signal">): Promise<never> {
    await this.#clock.sleep(timeoutMs, signal);
    throw new TimeoutError("no answer", { outcome: "unknown" });
  }
}
