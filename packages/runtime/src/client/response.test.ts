import { describe, expect, it } from "vitest";
import * as errors from "./errors.ts";
import { errorOf, objectIn, refusalOf, retryAfterOf } from "./response.ts";

const status = (code: number, reason: string, more: object = {}) =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: "because", reason, code, ...more });

const refusal = (code: number, body: string, headers = {}) =>
  refusalOf("create Pod default/web", { status: code, headers, body });

const cases = [
  { code: 401, reason: "Unauthorized", is: errors.UnauthorizedError },
  { code: 403, reason: "Forbidden", is: errors.ForbiddenError },
  { code: 404, reason: "NotFound", is: errors.NotFoundError },
  { code: 409, reason: "Conflict", is: errors.ConflictError },
  { code: 409, reason: "AlreadyExists", is: errors.AlreadyExistsError },
  { code: 410, reason: "Expired", is: errors.ExpiredError },
  { code: 410, reason: "Gone", is: errors.ExpiredError },
  { code: 422, reason: "Invalid", is: errors.InvalidError },
  { code: 429, reason: "TooManyRequests", is: errors.TooManyRequestsError },
  { code: 500, reason: "InternalError", is: errors.InternalError },
  { code: 500, reason: "ServerTimeout", is: errors.ServerTimeoutError },
  { code: 503, reason: "ServiceUnavailable", is: errors.UnavailableError },
  { code: 504, reason: "Timeout", is: errors.ServerTimeoutError },
  { code: 415, reason: "UnsupportedMediaType", is: errors.ApiError },
];

describe("an error response", () => {
  it.each(cases)("$code $reason is a $is.name", ({ code, reason, is }) => {
    const error = refusal(code, status(code, reason));
    expect(error.constructor).toBe(is);
    expect(error).toMatchObject({ status: code, reason });
    expect(error.message).toContain("create Pod default/web: the server answered");
    expect(error.message).toContain("because");
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("with the reason %s is an ordinary ApiError", (reason) => {
    expect(refusal(418, status(418, reason)).constructor).toBe(errors.ApiError);
    expect(refusal(403, status(403, reason)).constructor).toBe(errors.ForbiddenError);
  });

  it("ignores fields of the wrong type, and truncates long ones", () => {
    const wrong = {
      reason: {},
      message: ["x"],
      code: "no",
      details: { name: 5, causes: [null, "x", { field: 7, reason: "R" }] },
    };
    expect(errorOf("list Pod", JSON.parse(JSON.stringify({ kind: "Status", ...wrong })))).toMatchObject({
      status: 500,
      reason: "",
      serverMessage: "no explanation",
      details: { causes: [{ reason: "R" }] },
    });
    const causes = Array.from({ length: 1000 }, () => ({ message: "x".repeat(100_000) }));
    const long = refusal(422, status(422, "R".repeat(1000), { message: `\u001b[2J${"x".repeat(100_000)}`, details: { causes } }));
    expect(long.message).not.toContain("\u001b");
    expect(JSON.stringify(long).length + long.message.length).toBeLessThan(60_000);
  });

  const canary = "canary-9f8e7d";
  it.each([
    {
      name: "of a field names the field",
      error: refusal(
        422,
        status(422, "Invalid", {
          message: `Env: ${canary}`,
          details: { kind: "Pod", causes: [{ field: "spec", reason: "Forbidden" }] },
        }),
      ),
      summary: "create Pod default/web: the server answered 422 Invalid: spec (Forbidden)",
    },
    {
      name: "by a webhook does not repeat its text",
      error: refusal(403, status(403, "Forbidden", { message: `admission webhook "x" denied the request: ${canary}` })),
      summary: "create Pod default/web: the server answered 403 Forbidden: its message can quote the object",
    },
    {
      name: "by a quota repeats it",
      error: refusal(403, status(403, "Forbidden", { message: "exceeded quota: team", details: { kind: "pods" } })),
      summary: "create Pod default/web: the server answered 403 Forbidden: exceeded quota: team",
    },
    {
      name: "by a proxy repeats it",
      error: refusal(502, "<html><title>Bad Gateway</title>"),
      summary: 'create Pod default/web: the server answered 502: the page "Bad Gateway"',
    },
  ])("S4: the summary of an error response $name", ({ error, summary }) => expect(error.summary).toBe(summary));

  it("keeps the causes and the retry delay of the server", () => {
    const details = { name: "web", kind: "pods", causes: [{ reason: "FieldValueInvalid", field: "spec.x", message: "no" }] };
    const error = refusal(429, status(429, "TooManyRequests", { details }), { "retry-after": "7" });
    expect(error).toMatchObject({ retryAfterSeconds: 7, causes: details.causes, details });
  });

  it("uses retryAfterSeconds of the details without a Retry-After header", () => {
    expect(refusal(500, status(500, "ServerTimeout", { details: { retryAfterSeconds: 3 } })).retryAfterSeconds).toBe(3);
  });

  it.each([-1, "soon", null])("ignores invalid seconds: %s", (retryAfterSeconds) => {
    expect(refusal(429, status(429, "TooManyRequests", { details: { retryAfterSeconds } })).retryAfterSeconds).toBeUndefined();
  });

  it.each([
    {
      what: "HTML of a load balancer",
      body: "<html>\n <h1>502 Bad Gateway</h1></html>",
      says: "<html> <h1>502 Bad Gateway</h1></html>",
    },
    {
      what: "a page with a title",
      body: `<!DOCTYPE html>\n<!--[if lt IE 7]>${"<style>".repeat(50)}<![endif]-->\n<head><title>\n502: Bad gateway</title>`,
      says: 'answered 502: the page "502: Bad gateway"',
    },
    { what: "half a Status", body: '{"kind":"Status","reason":"Confl', says: '{"kind":"Status"' },
    { what: "some other JSON", body: '{"kind":"Pod","message":"hm"}', says: '{"kind":"Pod","message":"hm"}' },
    { what: "nothing", body: "", says: "no explanation" },
  ])("is classified by its status code when the body is $what", ({ body, says }) => {
    const error = refusal(502, body);
    expect(error).toBeInstanceOf(errors.UnavailableError);
    expect(error.message).toContain(says);
  });

  it.each(cases.filter(({ code, reason }) => reason !== "AlreadyExists" && !(code === 500 && reason === "ServerTimeout")))(
    "$code without a reason is also a $is.name",
    ({ code, is }) => expect(refusal(code, "<html>").constructor).toBe(is),
  );

  it("contains the beginning of an unknown body, on one line", () => {
    const { message } = refusal(502, `  ${"many\n words ".repeat(1_000)}`);
    expect(message).toContain(`${"many words ".repeat(30).slice(0, 199)}…`);
    expect(message.length).toBeLessThan(400);
  });

  it("of a watch has the code of its Status, otherwise 500", () => {
    expect(errorOf("watch pods", { kind: "Status", code: 410, reason: "Expired", message: "too old" } as never)).toMatchObject({
      status: 410,
      reason: "Expired",
    });
    const least = errorOf("watch pods", { kind: "Status" } as never);
    expect(least).toMatchObject({ status: 500, reason: "" });
    expect(least.message).toContain("no explanation");
  });

  it("has its own code and name", () => {
    const seen = cases.map(({ code, reason }) => refusal(code, status(code, reason))).map(({ name, code }) => `${name} ${code}`);
    expect(seen).toContain("ConflictError API_CONFLICT");
    expect(new Set(seen).size).toBe(12);
  });
});

describe("the object in a response", () => {
  it("is the parsed JSON, including unknown fields", () => {
    expect(objectIn("get", '{"kind":"Pod","new":{"field":1}}')).toEqual({ kind: "Pod", new: { field: 1 } });
  });

  it("an error contains the beginning of a body that is not JSON, which is usually a login page", () => {
    expect(() => objectIn("get Pod x", "<html>Sign in</html>")).toThrow(/get Pod x: expected JSON.*<html>Sign in/);
  });

  it("an error reports an empty body", () => {
    expect(() => objectIn("get Pod x", " ")).toThrow(/found nothing/);
  });

  it("an error contains nothing of malformed JSON, which may be a Secret", () => {
    const broken = '{"kind":"Secret","data":{"password":"aHVudGVyMg==';
    const error = catching(() => objectIn("get Secret x", broken));
    expect(error).toBeInstanceOf(errors.AnswerError);
    expect(String(error) + String((error as Error).cause)).not.toContain("aHVudGVyMg");
  });
});

it.each([
  { header: "30", seconds: 30 },
  { header: "0", seconds: 0 },
  { header: "-1", seconds: undefined },
  { header: "Wed, 21 Oct 2026 07:28:00 GMT", seconds: undefined },
  { header: undefined, seconds: undefined },
])("Retry-After $header is $seconds seconds", ({ header, seconds }) => {
  expect(retryAfterOf(header === undefined ? {} : { "retry-after": header })).toBe(seconds);
});

function catching(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
