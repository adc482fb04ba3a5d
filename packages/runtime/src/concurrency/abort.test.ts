import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abortable, anySignal, DeadlineExceededError, timeoutSignal } from "./abort.ts";
import { manualClock } from "./manual-clock.ts";

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("anySignal", () => {
  it("aborts with the reason of the first that does, and lets go of the others", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    using any = anySignal([a.signal, undefined, b.signal]);
    expect(any.signal.aborted).toBe(false);
    b.abort("b ended");
    a.abort("a ended");
    expect(any.signal.reason).toBe("b ended");
    expect(listenersOf(a.signal)).toBe(0);
  });

  it("is aborted from the start if one of them was", () => {
    using any = anySignal([new AbortController().signal, AbortSignal.abort("long ago")]);
    expect(any.signal.reason).toBe("long ago");
  });

  it("leaves nothing behind on a signal that lives on", () => {
    const process = new AbortController();
    {
      using _any = anySignal([process.signal]);
      expect(listenersOf(process.signal)).toBe(1);
    }
    expect(listenersOf(process.signal)).toBe(0);
  });
});

describe("timeoutSignal", () => {
  it("aborts when the time is over on our clock, saying what took too long", async () => {
    const clock = manualClock();
    using limit = timeoutSignal({ clock, timeoutMs: 30_000, what: "reconcile of default/web" });
    await clock.advance(29_999);
    expect(limit.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(limit.signal.reason).toBeInstanceOf(DeadlineExceededError);
    expect(limit.signal.reason).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: "reconcile of default/web: expected an end within 30000 ms, found it still running",
    });
  });

  it("aborts with the outer signal if that comes first", () => {
    const outer = new AbortController();
    using limit = timeoutSignal({ clock: manualClock(), timeoutMs: 1, signal: outer.signal, what: "it" });
    outer.abort("shutting down");
    expect(limit.signal.reason).toBe("shutting down");
  });

  it("leaves no timer and no listener behind", () => {
    const clock = manualClock();
    const outer = new AbortController();
    timeoutSignal({ clock, timeoutMs: 1, signal: outer.signal, what: "it" })[Symbol.dispose]();
    expect([clock.pending, listenersOf(outer.signal)]).toEqual([0, 0]);
  });
});

describe("abortable", () => {
  it("gives the result, and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve(42), signal)).toBe(42);
    expect(await abortable(Promise.resolve(42), undefined)).toBe(42);
    expect(listenersOf(signal)).toBe(0);
  });

  it("rejects as soon as the signal aborts, though the work never ends", async () => {
    const stop = new AbortController();
    const endless = abortable(new Promise(() => {}), stop.signal);
    stop.abort(new Error("enough"));
    await expect(endless).rejects.toThrow("enough");
  });

  it("rejects at once with a signal that has aborted already, even if the result is there", async () => {
    await expect(abortable(Promise.resolve(1), AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});
