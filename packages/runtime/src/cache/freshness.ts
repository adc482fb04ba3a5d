// Whether a store may be believed. "starting": never complete yet. "live": complete, and followed. "stale": we know that we
// do not know, because history is lost and a new listing is not complete, or because there was no connection for too
// long. A short interruption is nobody's business.
import type { Cancel, Clock } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";

export type CacheState = "starting" | "live" | "stale";

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a connection may be missing before that means anything. */
  readonly toleranceMs: number;
  readonly onChange: () => void;
}

export class Freshness {
  readonly #options: FreshnessOptions;
  #state: CacheState = "starting";
  #cancelPatience: Cancel | undefined;

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  get state(): CacheState {
    return this.#state;
  }

  /** Connected, and nothing missed. */
  alive(): void {
    this.stop();
    if (this.#state === "live") return;
    if (this.#state === "stale") this.#options.log.info({}, "cache has caught up");
    this.#become("live");
  }

  /** Not connected; nothing missed yet, as far as we know. */
  disconnected(error: unknown): void {
    const { clock, toleranceMs } = this.#options;
    this.#cancelPatience ??= clock.after(toleranceMs, () => this.lost(error));
  }

  /** Something was surely missed. */
  lost(error: unknown): void {
    if (this.#state !== "live") return; // what was never known cannot be stale
    this.#options.log.warn({ err: error }, "cache is stale: nothing is reconciled from it until it has caught up");
    this.#become("stale");
  }

  /** Ends the waiting. */
  stop(): void {
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  #become(state: CacheState): void {
    this.#state = state;
    this.#options.onChange();
  }
}
