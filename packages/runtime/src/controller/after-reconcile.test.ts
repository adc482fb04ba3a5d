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
import { afterReconcile, type Verdict } from "./after-reconcile.ts";
import { PermanentError } from "./errors.ts";
import { checkAgainIn, done, type Outcome, waitForChange } from "./outcome.ts";

const said = { attempt: "patch Pod home/a", reason: "", message: "no" };
const contested = { causes: [{ reason: "FieldManagerConflict" }] };

const outcomes: { name: string; outcome: Outcome; expected: Partial<Verdict> }[] = [
  { name: "done: nothing follows", outcome: done(), expected: { result: "success" } },
  { name: "waiting for a change: nothing follows", outcome: waitForChange("…"), expected: { result: "success" } },
  {
    name: "checking again: after that time",
    outcome: checkAgainIn(5_000, "…"),
    expected: { result: "requeue_after", againInMs: 5_000 },
  },
];

const errors: { name: string; error: unknown; failures?: number; expected: Verdict }[] = [
  {
    name: "A1: a conflict is retried at once and quietly",
    error: new ConflictError({ ...said, status: 409 }),
    expected: { againInMs: 5, failed: true, result: "requeue", log: "debug", stuck: false },
  },
  {
    name: "A1: losing every race is worth a word, and a second between two attempts",
    error: new ConflictError({ ...said, status: 409 }),
    failures: 20,
    expected: { againInMs: 1_000, failed: true, result: "requeue", log: "warn", stuck: false },
  },
  {
    name: "A1: a field that another manager owns stays contested",
    error: new ConflictError({ ...said, status: 409, details: contested }),
    expected: { againInMs: 60_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: 403 is asked again after a minute",
    error: new ForbiddenError({ ...said, status: 403 }),
    expected: { againInMs: 60_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: 422 again and again is asked every 16 minutes",
    error: new InvalidError({ ...said, status: 422 }),
    failures: 9,
    expected: { againInMs: 960_000, failed: true, result: "error", log: "error", stuck: true },
  },
  {
    name: "A1: 404 is an ordinary failure",
    error: new NotFoundError({ ...said, status: 404 }),
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a busy server decides when",
    error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 30 }),
    expected: { againInMs: 30_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a busy server that asks for a day gets five minutes",
    error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 86_400 }),
    expected: { againInMs: 300_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "A2: a failing server is asked ever more rarely, up to every five minutes",
    error: new InternalError({ ...said, status: 500 }),
    failures: 30,
    expected: { againInMs: 300_000, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "a lost answer is an ordinary failure: the next look finds out",
    error: new TransportError("reset", { outcome: "unknown" }),
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
  {
    name: "a permanent error waits for a change",
    error: new PermanentError("no"),
    failures: 3,
    expected: { failed: false, result: "error", log: "error", stuck: true },
  },
  {
    name: "a right that was never declared waits for a better program",
    error: new AccessNotDeclaredError("no"),
    expected: { failed: false, result: "error", log: "error", stuck: true },
  },
  {
    name: "whatever else is thrown is retried",
    error: "not even an Error",
    expected: { againInMs: 50, failed: true, result: "error", log: "error", stuck: false },
  },
];

describe("after a reconcile", () => {
  const noJitter = () => 0;

  it.each(outcomes)("$name", ({ outcome, expected }) => {
    expect(afterReconcile({ outcome }, noJitter)).toEqual({ failed: false, log: "debug", stuck: false, ...expected });
  });

  it.each(errors)("$name", ({ error, failures = 0, expected }) => {
    expect(afterReconcile({ error, failures, stopping: false }, noJitter)).toEqual(expected);
  });

  it("nothing follows while stopping, whatever was thrown", () => {
    const ending = { error: new Error("aborted"), failures: 1, stopping: true };
    expect(afterReconcile(ending, noJitter)).toEqual({ failed: false, log: "debug", stuck: false });
  });
});
