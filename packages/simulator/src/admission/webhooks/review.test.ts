import { describe, expect, it } from "vitest";
import { denial, verdictIn } from "./review.ts";

const review = (response: object | undefined, more: object = {}) => ({
  ...{ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response },
  ...more,
});
const patch = Buffer.from('[{"op":"add","path":"/a","value":1}]').toString("base64");

describe("an answer", () => {
  it("may bring a patch, if it may change", () => {
    const answer = review({ uid: "u", allowed: true, patchType: "JSONPatch", patch, warnings: ["careful"] });
    expect(verdictIn(answer, "u", true)).toMatchObject({
      ...{ allowed: true, patch: [{ op: "add", path: "/a", value: 1 }], warnings: ["careful"] },
    });
  });

  it.each([
    { name: "none", answer: review(undefined), says: "webhook response was absent" },
    { name: "of another question", answer: review({ uid: "v" }), says: 'expected response.uid="u", got "v"' },
    {
      name: "of another kind",
      answer: review({ uid: "u" }, { kind: "Foo" }),
      says: "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview",
    },
    {
      name: "with a patch of no type",
      answer: review({ uid: "u", patch }),
      says: "webhook returned response.patch but not response.patchType",
    },
  ])("is no answer: $name", ({ answer, says }) => {
    expect(() => verdictIn(answer, "u", true)).toThrow(says);
  });

  it("may not bring a patch if it may only refuse", () => {
    expect(() => verdictIn(review({ uid: "u", patch }), "u", false)).toThrow("validating webhook may not return response.patch");
  });
});

describe("a refusal", () => {
  it.each([
    { status: {}, message: 'admission webhook "w" denied the request without explanation', code: 400 },
    { status: { reason: "Forbidden" }, message: 'admission webhook "w" denied the request: Forbidden', code: 400 },
    { status: { message: "no", code: 422 }, message: 'admission webhook "w" denied the request: no', code: 422 },
    { status: { message: "no", code: 200 }, message: 'admission webhook "w" denied the request: no', code: 400 },
  ])("$status says $message", ({ status, message, code }) => {
    expect(denial("w", status).body).toMatchObject({ message, code, status: "Failure" });
  });
});
