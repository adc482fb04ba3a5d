import { describe, expect, it } from "vitest";
import { TimeoutError, TransportError } from "./errors.ts";
import { type Attempt, delayAfterAnswer, delayAfterError, maxAttempts } from "./retry.ts";

const attempt = (method: Attempt["method"], over: Partial<Attempt> = {}): Attempt => ({
  method,
  number: 1,
  busyIsAnswer: false,
  ...over,
});
const random = () => 0;

describe("after an answer", () => {
  const after = (a: Attempt, status: number, retryAfterSeconds?: number) =>
    delayAfterAnswer(a, { status, retryAfterSeconds }, random);

  it.each([
    { name: "a busy server gets a read again", a: attempt("GET"), status: 429, again: true },
    { name: "a busy server gets a write again: it was turned away at the door", a: attempt("POST"), status: 429, again: true },
    {
      name: "an eviction that a budget forbids is the caller's to hear",
      a: attempt("POST", { busyIsAnswer: true }),
      status: 429,
      again: false,
    },
    { name: "a broken server gets a read again", a: attempt("GET"), status: 500, again: true },
    { name: "a broken gateway gets a read again", a: attempt("GET"), status: 502, again: true },
    { name: "a server that is away gets a read again", a: attempt("GET"), status: 503, again: true },
    { name: "a gateway that waited too long gets a read again", a: attempt("GET"), status: 504, again: true },
    { name: "a write that failed inside may have been committed", a: attempt("PUT"), status: 500, again: false },
    { name: "a write that timed out inside may have been committed", a: attempt("PATCH"), status: 504, again: false },
    { name: "a conflict is a decision", a: attempt("GET"), status: 409, again: false },
    { name: "enough is enough", a: attempt("GET", { number: maxAttempts }), status: 429, again: false },
  ])("$name", ({ a, status, again }) => expect(after(a, status) !== undefined).toBe(again));

  it("waits at least as long as the server asks, and longer each time on its own", () => {
    expect(after(attempt("GET"), 429, 30)).toBe(30_000);
    expect([1, 2, 3].map((number) => after(attempt("GET", { number }), 503))).toEqual([200, 400, 800]);
  });
});

describe("after no answer", () => {
  const lost = new TransportError("lost", { outcome: "unknown" });
  const refused = new TransportError("refused", { outcome: "not-sent" });
  const late = new TimeoutError("late", { outcome: "unknown" });

  it.each([
    { name: "a read goes out again", a: attempt("GET"), error: lost, again: true },
    { name: "a write that may have arrived does not", a: attempt("DELETE"), error: lost, again: false },
    { name: "a write that surely did not arrive does", a: attempt("DELETE"), error: refused, again: true },
    { name: "time that is up is up", a: attempt("GET"), error: late, again: false },
    { name: "an error of our own is not the network's", a: attempt("GET"), error: new TypeError("oops"), again: false },
    { name: "enough is enough", a: attempt("GET", { number: maxAttempts }), error: lost, again: false },
  ])("$name", ({ a, error, again }) => expect(delayAfterError(a, error, random) !== undefined).toBe(again));
});
