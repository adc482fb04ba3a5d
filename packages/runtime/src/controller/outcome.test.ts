import { describe, expect, it } from "vitest";
import {
  ConflictError,
  ForbiddenError,
  InternalError,
  InvalidError,
  NotFoundError,
  TooManyRequestsError,
  TransportError,
} from "../client/errors.ts";
import { AccessNotDeclaredError } from "../schema/errors.ts";
import { TerminalError } from "./errors.ts";
import { afterReconcile, awaitChange, done, type NextStep, type Outcome, requeueAfter } from "./outcome.ts";

const said = { attempt: "patch Pod home/a", reason: "", message: "no" };
const contested = { causes: [{ reason: "FieldManagerConflict" }] };

const outcomes: { name: string; outcome: Outcome; expected: Partial<NextStep> }[] = [
  { name: "done: no requeue", outcome: done(), expected: { result: "success" } },
  { name: "awaitChange: no requeue", outcome: awaitChange("…"), expected: { result: "success" } },
  {
    name: "requeueAfter: requeues after that time",
    outcome: requeueAfter(5_000, "…"),
    expected: { result: "requeue_after", againInMs: 5_000 },
  },
];

const errors: { name: string; error: unknown; failures?: number; expected: NextStep }[] = [
  {
    name: "A1: a conflict is retried at once and logged at debug level",
    error: new ConflictError({ ...said, status: 409 }),
    expected: { againInMs: 5, failed: true, result: "requeue", log: "debug", stuck: false },
  },
  {
    name: "A1: many conflicts in a row are logged as warnings and retried after a second",
    error: new ConflictError({ ...said, status: 409 }),
    failures: 20,
    expected: { againInMs: 1_000, failed: true, result: "requeue", log: "warn", stuck: false },
  },
  {
    name: "A1: a field manager conflict is retried like a 422",
    error: new ConflictError({ ...said, status: 409, details: contested }),
    expected: { againInMs: 60_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: a 403 is retried after a minute",
    error: new ForbiddenError({ ...said, status: 403 }),
    expected: { againInMs: 60_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: a repeated 422 is retried every 16 minutes",
    error: new InvalidError({ ...said, status: 422 }),
    failures: 9,
    expected: { againInMs: 960_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: a 404 is retried with the back-off",
    error: new NotFoundError({ ...said, status: 404 }),
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a 429 is retried after its Retry-After",
    error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 30 }),
    expected: { againInMs: 30_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a Retry-After of a day is capped at five minutes",
    error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 86_400 }),
    expected: { againInMs: 300_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a 5xx is retried with a growing delay of at most five minutes",
    error: new InternalError({ ...said, status: 500 }),
    failures: 30,
    expected: { againInMs: 300_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "a lost response is retried with the back-off",
    error: new TransportError("reset", { outcome: "unknown" }),
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "a TerminalError waits for a change",
    error: new TerminalError("no"),
    failures: 3,
    expected: { failed: false, result: "error", log: "error", stuck: true },
  },
  {
    name: "an undeclared permission waits for a change",
    error: new AccessNotDeclaredError("no"),
    expected: { failed: false, result: "error", log: "error", stuck: true },
  },
  {
    name: "any other error is retried",
    error: "not even an Error",
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
];

describe("after a reconcile", () => {
  const noJitter = () => 0;
  const backoff = { initialMs: 50, maxMs: 300_000, jitter: 0.2 };

  it.each([
    { failures: 0, againInMs: 1_000 },
    { failures: 2, againInMs: 9_000 },
    { failures: 9, againInMs: 10_000 },
  ])(
    "an error is retried with the controller's back-off: after $failures failures in $againInMs ms",
    ({ failures, againInMs }) => {
      const own = { initialMs: 1_000, factor: 3, maxMs: 10_000 };
      expect(afterReconcile({ error: new Error("x"), failures, stopping: false }, own, noJitter)).toMatchObject({ againInMs });
    },
  );

  it.each(outcomes)("$name", ({ outcome, expected }) => {
    expect(afterReconcile({ outcome }, backoff, noJitter)).toEqual({ failed: false, log: "debug", stuck: false, ...expected });
  });

  it.each(errors)("$name", ({ error, failures = 0, expected }) => {
    expect(afterReconcile({ error, failures, stopping: false }, backoff, noJitter)).toEqual(expected);
  });

  it("no error is retried while the operator stops", () => {
    const ending = { error: new Error("aborted"), failures: 1, stopping: true };
    expect(afterReconcile(ending, backoff, noJitter)).toEqual({ failed: false, log: "debug", stuck: false });
  });
});
