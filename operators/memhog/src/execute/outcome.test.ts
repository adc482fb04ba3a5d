import { AlreadyExistsError, ConflictError, NotFoundError } from "@memhog/runtime";
import {
  ForbiddenError,
  InternalError,
  InvalidError,
  type Refusal,
  TimeoutError,
  TooManyRequestsError,
  TransportError,
  UnauthorizedError,
} from "@memhog/runtime/client";
import { describe, expect, it } from "vitest";
import { anIntent, aRecord } from "../model/observed-app.fixture.ts";
import { type CommandOutcome, type Ending, endingOf, withEndings } from "./outcome.ts";

const refusal = (different: Partial<Refusal>): Refusal => ({
  attempt: "patch Pod demo/memhog-1",
  status: 403,
  reason: "Forbidden",
  message: "",
  ...different,
});
const quota =
  'pods "memhog-1" is forbidden: exceeded quota: team, requested: requests.memory=256Mi, limited: requests.memory=1Gi';

describe("how a call that failed ends a command", () => {
  it.each([
    { name: "the object changed", error: new ConflictError(refusal({ status: 409 })), outcome: "changed" },
    { name: "somebody made it already", error: new AlreadyExistsError(refusal({ status: 409 })), outcome: "changed" },
    {
      name: "the object is gone",
      error: new NotFoundError(refusal({ status: 404, details: { name: "memhog-1" } })),
      outcome: "gone",
    },
    {
      name: "there is no pods/resize",
      error: new NotFoundError(refusal({ status: 404 })),
      outcome: "refused",
      says: "not serve",
    },
    {
      name: "RBAC says no",
      error: new ForbiddenError(refusal({ message: "cannot patch", details: { kind: "pods" } })),
      outcome: "refused",
      says: "cannot patch",
    },
    {
      name: "a quota says no",
      error: new ForbiddenError(refusal({ message: quota, details: { kind: "pods" } })),
      outcome: "refused",
      says: "quota: team",
    },
    {
      name: "the node is too small",
      error: new ForbiddenError(
        refusal({ message: "node didn't have enough", details: { kind: "pods", causes: [{ reason: "NodeCapacity" }] } }),
      ),
      outcome: "infeasible",
      says: "node didn't have enough",
    },
    {
      name: "an admission webhook says no, in words of its own",
      error: new ForbiddenError(refusal({ message: "denied: DB_URL is postgres" })),
      outcome: "refused",
      says: "denied by an admission webhook; the operator logs its message at -v 4",
    },
    {
      name: "the UID is another",
      error: new InvalidError(refusal({ status: 422, details: { causes: [{ field: "metadata.uid" }] } })),
      outcome: "changed",
    },
    {
      name: "the QoS class would change",
      error: new InvalidError(
        refusal({ status: 422, details: { causes: [{ field: "metadata", reason: "FieldValueInvalid" }] } }),
      ),
      outcome: "refused",
      says: "metadata (FieldValueInvalid)",
    },
    {
      name: "a budget says not now",
      error: new TooManyRequestsError(
        refusal({ status: 429, details: { causes: [{ reason: "DisruptionBudget", message: "needs 2 healthy pods" }] } }),
      ),
      outcome: "waits",
      says: "PodDisruptionBudget: needs 2 healthy pods",
    },
    { name: "the server failed in the middle", error: new InternalError(refusal({ status: 500 })), outcome: "unknown" },
    { name: "no answer came (C2)", error: new TransportError("reset", { outcome: "unknown" }), outcome: "unknown" },
    { name: "no answer came in time (C2)", error: new TimeoutError("late", { outcome: "unknown" }), outcome: "unknown" },
  ])("$name: $outcome", ({ error, outcome, says = "" }) => {
    const ending = endingOf(error);
    expect(ending.outcome).toBe(outcome);
    expect(ending.message).toContain(says);
    expect(ending.message).not.toBe("");
  });

  it("is thrown on where it says nothing about the command", () => {
    const ending = new AbortController();
    ending.abort();
    expect(() => endingOf(ending.signal.reason)).toThrow(ending.signal.reason);
    expect(() => endingOf(new UnauthorizedError(refusal({ status: 401 })))).toThrow(UnauthorizedError);
  });

  it("tells no secret that the server repeats (S4)", () => {
    const canary = "hunter2-canary";
    const causes = [{ field: "spec", reason: "FieldValueForbidden", message: `Env: {Value: "${canary}"}` }];
    const invalid = new InvalidError(
      refusal({ status: 422, message: `pod updates may not change: ${canary}`, details: { causes } }),
    );
    const denied = new ForbiddenError(refusal({ message: `denied: Authorization Bearer ${canary}, password=${canary}` }));
    expect(JSON.stringify([endingOf(invalid), endingOf(denied)])).not.toContain(canary);
  });
});

describe("what a record keeps of endings", () => {
  const intent = anIntent();
  const record = aRecord({ intents: [anIntent({ id: "other" }), intent] });
  const outcome = (ending: Ending): CommandOutcome => ({
    command: { do: "resize", intent, resourceVersion: "1", step: "limits" },
    ...ending,
  });

  it.each([
    { ending: { outcome: "refused", message: "quota: team" }, waiting: { reason: "Refused", message: "quota: team" } },
    { ending: { outcome: "infeasible", message: "too small" }, waiting: { reason: "ResizeInfeasible", message: "too small" } },
    {
      ending: { outcome: "refused", cause: "NameTaken", message: "by web" },
      waiting: { reason: "NameTaken", message: "by web" },
    },
  ] as const)("$ending.outcome: the intent waits, because of $waiting.reason", ({ ending, waiting }) => {
    const after = withEndings(record, [outcome(ending)]);
    expect(after.intents).toEqual([anIntent({ id: "other" }), anIntent({ waiting })]);
    expect(withEndings(after, [outcome(ending)])).toBe(after);
  });

  it.each(["done", "changed", "gone", "stopped", "waits", "unknown"] as const)("%s leaves the record as it is", (ending) => {
    expect(withEndings(record, [outcome({ outcome: ending, message: "" })])).toBe(record);
  });
});
