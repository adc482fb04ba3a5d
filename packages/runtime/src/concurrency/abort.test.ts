import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abortable, anySignal, DeadlineExceededError, isForeseen, timeoutSignal } from "./abort.ts";
import { manualClock } from "./manual-clock.ts";

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("anySignal", () => {
  it("aborts with the reason of the first signal that aborts and removes its listeners from the others", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    using any = anySignal([a.signal, undefined, b.signal]);
    expect(any.signal.aborted).toBe(false);
    b.abort("b ended");
    a.abort("a ended");
    expect(any.signal.reason).toBe("b ended");
    expect(listenersOf(a.signal)).toBe(0);
  });

  it("is aborted from the start if one of the signals is", () => {
    using any = anySignal([new AbortController().signal, AbortSignal.abort("long ago")]);
    expect(any.signal.reason).toBe("long ago");
  });

  it("leaves no listener on a long-lived signal", () => {
    const process = new AbortController();
    {
      using _any = anySignal([process.signal]);
      expect(listenersOf(process.signal)).toBe(1);
    }
    expect(listenersOf(process.signal)).toBe(0);
  });
});

describe("timeoutSignal", () => {
  it("aborts after the timeout on the given clock with an error that names the operation", async () => {
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

  it("aborts with the outer signal's reason if that aborts first", () => {
    const outer = new AbortController();
    using limit = timeoutSignal({ clock: manualClock(), timeoutMs: 1, signal: outer.signal, what: "it" });
    outer.abort("shutting down");
    expect(limit.signal.reason).toBe("shutting down");
  });

  it("leaves no timer and no listener after it is disposed", () => {
    const clock = manualClock();
    const outer = new AbortController();
    timeoutSignal({ clock, timeoutMs: 1, signal: outer.signal, what: "it" })[Symbol.dispose]();
    expect([clock.pending, listenersOf(outer.signal)]).toEqual([0, 0]);
  });
});

describe("abortable", () => {
  it("resolves with the result and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve(42), signal)).toBe(42);
    expect(await abortable(Promise.resolve(42), undefined)).toBe(42);
    expect(listenersOf(signal)).toBe(0);
  });

  it("rejects as soon as the signal aborts, even if the operation never ends", async () => {
    const stop = new AbortController();
    const endless = abortable(new Promise(() => {}), stop.signal);
    stop.abort(new Error("enough"));
    await expect(endless).rejects.toThrow("enough");
  });

  it("rejects immediately if the signal is already aborted, even if the result is available", async () => {
    await expect(abortable(Promise.resolve(1), AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

const coded = (code: unknown) => Object.assign(new Error("…"), { code });

it.each([
  { name: "a DeadlineExceededError", error: new DeadlineExceededError("a call", 5), foreseen: true },
  { name: "a system error (ENOENT)", error: coded("ENOENT"), foreseen: true },
  { name: "a TypeError without a code", error: new TypeError("x is not a function"), foreseen: false },
  { name: "a Node error with an ERR_ code", error: coded("ERR_INVALID_ARG_TYPE"), foreseen: false },
  { name: "an error with a numeric code", error: coded(20), foreseen: false },
  { name: "a value that is not an Error", error: "what?", foreseen: false },
])("isForeseen returns $foreseen for $name", ({ error, foreseen }) => expect(isForeseen(error)).toBe(foreseen));
