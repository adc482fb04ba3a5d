import { setTimeout as sleep } from "node:timers/promises";

export interface UntilOptions {
  /** @default never */
  readonly signal?: AbortSignal | undefined;
}

/** Looks again and again, in ever longer pauses up to a quarter of a second, until it holds. Rejects with the signal's reason. */
export async function until(holds: () => boolean | Promise<boolean>, { signal }: UntilOptions = {}): Promise<void> {
  for (let pause = 5; !(await holds()); pause = Math.min(pause * 2, 250)) {
    await sleep(pause, undefined, { ...(signal && { signal }) });
  }
}
