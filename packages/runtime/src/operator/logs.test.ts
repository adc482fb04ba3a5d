import { describe, expect, it } from "vitest";
import { InvalidError, NotFoundError } from "../client/errors.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { type LogOptions, loadPino, makeLogger, type OperatorLogger } from "./logs.ts";

const pino = await loadPino();

function logged(options: Partial<LogOptions>, say: (log: OperatorLogger) => void): string {
  const lines: string[] = [];
  say(
    makeLogger(
      { name: "gordon-operator", clock: manualClock(), format: "json", write: (line) => lines.push(line), ...options },
      pino,
    ),
  );
  return lines.join("");
}
const parsed = (options: Partial<LogOptions>, say: (log: OperatorLogger) => void) => JSON.parse(logged(options, say));

const refusal = { attempt: "get Pod default/web", status: 404, reason: "NotFound", message: 'pods "web" not found' };

describe("logs", () => {
  it("are JSON with the keys of controller-runtime", () => {
    expect(parsed({}, (log) => log.info({ lease: "apps/gordon" }, "became leader"))).toEqual({
      level: "info",
      ts: "2026-01-01T00:00:00.000Z",
      logger: "gordon-operator",
      lease: "apps/gordon",
      msg: "became leader",
    });
  });

  it.each([
    { verbosity: 0, said: ["info", "error"] },
    { verbosity: 1, said: ["info", "error"] },
    { verbosity: 2, said: ["debug", "info", "error"] },
    { verbosity: 4, said: ["trace", "debug", "info", "error"] },
    { verbosity: 10, said: ["trace", "debug", "info", "error"] },
  ])("say at -v$verbosity: $said", ({ verbosity, said }) => {
    const all = logged({ verbosity }, (log) => {
      for (const level of ["trace", "debug", "info", "error"] as const) log[level]({}, "x");
    });
    expect(
      all
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).level),
    ).toEqual(said);
  });

  it("print objects and references as namespace/name, so that Secrets do not leak", () => {
    const secret = { metadata: { namespace: "apps", name: "s" }, data: { token: "canary" } };
    const line = logged({}, (log) =>
      log.info({ object: secret, ref: { namespace: "apps", name: "web" }, node: { name: "n" } }, "x"),
    );
    expect(JSON.parse(line)).toMatchObject({ object: "apps/s", ref: "apps/web", node: "n" });
    expect(line).not.toContain("canary");
  });

  const secret = { kind: "Secret", metadata: { namespace: "apps", name: "s" }, data: { pw: "canary" } };
  it.each([
    { name: "in an array", fields: { seen: [secret, [secret]] }, shown: ["apps/s", ["apps/s"]] },
    { name: "inside another field", fields: { seen: { of: { secret } } }, shown: { of: { secret: "apps/s" } } },
    { name: "in a list of the API server's", fields: { seen: { metadata: {}, items: [secret] } }, shown: ["apps/s"] },
    { name: "without a name yet", fields: { seen: { ...secret, metadata: { generateName: "s-" } } }, shown: "s-" },
    { name: "without any name", fields: { seen: { ...secret, metadata: {} } }, shown: "?" },
  ])("S4: print a Secret $name by its name alone", ({ fields, shown }) => {
    const line = logged({}, (log) => log.info(fields, "x"));
    expect(JSON.parse(line).seen).toEqual(shown);
    expect(line).not.toContain("canary");
  });

  it("print objects that have a name and other fields in full, and stop at cycles", () => {
    const loop: unknown[] = [];
    loop.push(loop);
    const { image, round } = parsed({}, (log) => log.info({ image: { name: "web", size: 3 }, round: loop }, "x"));
    expect([image, round]).toEqual([{ name: "web", size: 3 }, [[[[["…"]]]]]]);
  });

  it("hide a nested field named token", () => {
    expect(parsed({}, (log) => log.info({ sent: { headers: [{ token: "canary" }] } }, "x")).sent).toEqual({
      headers: [{ token: "[hidden]" }],
    });
  });

  it("stop where a value contains itself", () => {
    const knot: Record<string, unknown> = { a: 1 };
    knot.knot = knot;
    expect(logged({}, (log) => log.info({ knot }, "x"))).toContain("…");
  });

  it("print dates as ISO strings, and bigints", () => {
    const fields = { at: new Date(0), list: [1n, null, undefined], of: { big: 2n } };
    expect(parsed({}, (log) => log.info(fields, "x"))).toMatchObject({
      at: "1970-01-01T00:00:00.000Z",
      list: ["1", null, null],
      of: { big: "2" },
    });
  });

  it("print errors under any field name, and thrown values that are not errors", () => {
    const error = { type: "Error", message: "boom", stack: expect.any(String) };
    expect(parsed({}, (log) => log.info({ error: new Error("boom"), all: [new Error("boom")] }, "x"))).toMatchObject({
      error,
      all: [error],
    });
    expect(parsed({}, (log) => log.child({ error: new Error("boom") }).info({}, "x"))).toMatchObject({ error });
    expect(parsed({}, (log) => log.error({ err: "boom" }, "x")).err).toEqual({ message: "boom" });
  });

  it.each([
    { name: "a field called token", say: (log: OperatorLogger) => log.info({ token: "canary-1234" }, "x") },
    {
      name: "a bearer token in an error",
      say: (log: OperatorLogger) => log.error({ err: new Error("sent Bearer canary-1234") }, "x"),
    },
    { name: "a JSON web token in a message", say: (log: OperatorLogger) => log.info({}, "got eyJhbGciOiJub25l.canary1234.x") },
    {
      name: "a private key in a nested field",
      say: (log: OperatorLogger) =>
        log.info({ a: { b: "-----BEGIN PRIVATE KEY-----\ncanary-1234\n-----END PRIVATE KEY-----\n" } }, "x"),
    },
    { name: "a field of a child logger", say: (log: OperatorLogger) => log.child({ password: "canary-1234" }).info({}, "x") },
  ])("S4: hide $name", ({ say }) => {
    for (const format of ["json", "text"] as const) {
      const line = logged({ format, verbosity: 9 }, say);
      expect(line).toContain("[hidden]");
      expect(line).not.toContain("canary");
    }
  });

  it("keep the stack of an unexpected error, and omit that of an error with a code", () => {
    expect(parsed({}, (log) => log.error({ err: new TypeError("bug") }, "x")).err).toEqual({
      type: "TypeError",
      message: "bug",
      stack: expect.stringContaining("logs.test"),
    });
    expect(parsed({}, (log) => log.error({ err: new NotFoundError(refusal) }, "x")).err).toEqual({
      type: "NotFoundError",
      code: "API_NOT_FOUND",
      message: expect.stringContaining("pods"),
    });
    expect(parsed({ verbosity: 4 }, (log) => log.error({ err: new NotFoundError(refusal) }, "x")).err).toHaveProperty("stack");
  });

  it("S4: repeat the text of a rejected write from -v 4 on, because it can quote the object", () => {
    const err = new InvalidError({ ...refusal, status: 422, reason: "Invalid", message: "Env: canary" });
    expect(logged({ verbosity: 3 }, (log) => log.error({ err, all: [err] }, "x"))).not.toContain("canary");
    expect(logged({ verbosity: 4 }, (log) => log.error({ err }, "x"))).toContain("canary");
  });

  it("S3: send nothing to a terminal that controls it", () => {
    const evil = "\u001b]0;title\u0007\u009b2J";
    const text = logged({ format: "text" }, (log) => log.warn({ a: evil, err: new Error(evil) }, evil));
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(text).toContain("\\u001b]0;title");
  });

  it("are readable on a terminal", () => {
    const text = logged({ format: "text" }, (log) => {
      log
        .child({ controller: "gordon" })
        .info({ ref: { namespace: "apps", name: "web" }, why: "two words", took: 3 }, "reconciled");
      log.warn({ err: new NotFoundError(refusal) }, "trying again");
    });
    expect(text).toBe(
      [
        '00:00:00.000 INFO  reconciled  controller=gordon ref=apps/web why="two words" took=3',
        "00:00:00.000 WARN  trying again",
        '             API_NOT_FOUND: get Pod default/web: the server answered 404 NotFound: pods "web" not found',
        "",
      ].join("\n"),
    );
  });
});
