import { describe, expect, it } from "vitest";
import { refusalOf } from "../answer.ts";
import { ForbiddenError } from "../errors.ts";
import { textIn } from "../transport/transport.ts";
import { protobufStatusIn } from "./protobuf-status.ts";

/** What a real API server (1.37) says to somebody who may not list pods. */
const forbidden = Buffer.from(
  "azhzAAoMCgJ2MRIGU3RhdHVzEpMBCgYKABIAGgASB0ZhaWx1cmUaYnBvZHMgaXMgZm9yYmlkZGVuOiBVc2VyICJqw7xyZ2VuIiBjYW5ub3QgbGlzdCByZXNvdXJjZSAicG9kcyIgaW4gQVBJIGdyb3VwICIiIGF0IHRoZSBjbHVzdGVyIHNjb3BlIglGb3JiaWRkZW4qDgoAEgAaBHBvZHMoADIAMJMDGgAiAA==",
  "base64",
);
const sentence = 'pods is forbidden: User "jürgen" cannot list resource "pods" in API group "" at the cluster scope';

/** A field of bytes. */
const field = (number: number, ...parts: readonly (Buffer | string)[]) => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
};

describe("a refusal in protobuf", () => {
  it("is a Status like any other", () => {
    expect(protobufStatusIn(forbidden)).toEqual({
      kind: "Status",
      status: "Failure",
      message: sentence,
      reason: "Forbidden",
      details: { kind: "pods" },
      code: 403,
    });
  });

  it("may have causes, and say when to come back", () => {
    const cause = field(4, field(1, "FieldValueInvalid"), field(2, "no"), field(3, "spec.x"));
    const details = field(5, cause, cause, Buffer.from([0x28, 7]));
    const bytes = Buffer.concat([Buffer.from("k8s\0"), field(1, field(2, "Status")), field(2, details)]);
    const one = { reason: "FieldValueInvalid", message: "no", field: "spec.x" };
    expect(protobufStatusIn(bytes)).toEqual({ kind: "Status", details: { causes: [one, one], retryAfterSeconds: 7 } });
  });

  it("says in an error what it says in JSON", () => {
    const error = refusalOf("list Pod", { status: 403, headers: {}, body: textIn(forbidden) });
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(error.message).toBe(`list Pod: the server answered 403 Forbidden: ${sentence}`);
  });

  it("goes by its number when it is something else, or half of it is missing", () => {
    const pod = Buffer.concat([Buffer.from("k8s\0"), field(1, field(2, "Pod")), field(2, field(3, "s3cret"))]);
    const error = refusalOf("list Pod", { status: 403, headers: {}, body: textIn(pod) });
    expect(error.message).toBe("list Pod: the server answered 403: protobuf");
    for (let length = 4; length < forbidden.length; length += 1) {
      const body = textIn(forbidden.subarray(0, length));
      expect(refusalOf("list Pod", { status: 403, headers: {}, body })).toBeInstanceOf(ForbiddenError);
    }
  });
});
