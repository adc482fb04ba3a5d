import type { Socket } from "node:net";

/** Passes bytes both ways. Each side's end is passed on as an end; each side's failure ends the other at once. */
export function join(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to);
    // A reset, not an end: whoever waits for an answer must see that it was cut off.
    from.on("error", () => to.resetAndDestroy());
    from.on("close", () => to.destroySoon());
  }
}
