import { describe, expect, it } from "vitest";
import { decisionIn, denial } from "./webhook-review.ts";

const review = (response: object | undefined, more: object = {}) => ({
  ...{ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response },
  ...more,
});
const patch = Buffer.from('[{"op":"add","path":"/a","value":1}]').toString("base64");

describe("a webhook response", () => {
  it("can contain a patch if the webhook is mutating", () => {
    const answer = review({ uid: "u", allowed: true, patchType: "JSONPatch", patch, warnings: ["careful"] });
    expect(decisionIn(answer, "u", true)).toMatchObject({
      ...{ allowed: true, patch: [{ op: "add", path: "/a", value: 1 }], warnings: ["careful"] },
    });
  });

  it.each([
    { name: "no response", answer: review(undefined), says: "webhook response was absent" },
    { name: "a different UID", answer: review({ uid: "v" }), says: 'expected response.uid="u", got "v"' },
    {
      name: "a different kind",
      answer: review({ uid: "u" }, { kind: "Foo" }),
      says: "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview",
    },
    {
      name: "a patch without a type",
      answer: review({ uid: "u", patch }),
      says: "webhook returned response.patch but not response.patchType",
    },
  ])("is rejected with $name", ({ answer, says }) => {
    expect(() => decisionIn(answer, "u", true)).toThrow(says);
  });

  it("cannot contain a patch if the webhook is validating", () => {
    expect(() => decisionIn(review({ uid: "u", patch }), "u", false)).toThrow("validating webhook may not return response.patch");
  });
});

describe("a denial", () => {
  it.each([
    { status: {}, message: 'admission webhook "w" denied the request without explanation', code: 400 },
    { status: { reason: "Forbidden" }, message: 'admission webhook "w" denied the request: Forbidden', code: 400 },
    { status: { message: "no", code: 422 }, message: 'admission webhook "w" denied the request: no', code: 422 },
    { status: { message: "no", code: 200 }, message: 'admission webhook "w" denied the request: no', code: 400 },
  ])("$status says $message", ({ status, message, code }) => {
    expect(denial("w", status).body).toMatchObject({ message, code, status: "Failure" });
  });
});
