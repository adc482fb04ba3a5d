// A promise that waits is the same thing on every clock: a timer that an abort can end. Clocks differ in `after` only.
import type { Cancel } from "./environment.ts";

/** The one primitive a clock has to bring. */
export type After = (milliseconds: number, callback: () => void) => Cancel;

/** `Clock.sleep` on top of `Clock.after`. No timer and no listener outlives the promise. */
export function sleepOn(after: After, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return new Promise((resolve) => after(milliseconds, resolve));
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = after(milliseconds, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
