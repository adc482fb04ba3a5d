import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Lease } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { clientAnswering } from "../testing/loopback.ts";
import { type Attempt, delayAfterAnswer, delayAfterError, makeLanes, maxAttempts } from "./call.ts";
import type { CallReport } from "./client.ts";
import * as errors from "./errors.ts";
import { TimeoutError, TransportError } from "./errors.ts";
import { evict } from "./verbs.ts";

const web = { namespace: "default", name: "web" };
const configMap = { metadata: web };
const never = () => new Promise<never>(() => {});
const lost = () => new errors.TransportError("lost", { outcome: "unknown" });
const refused = () => new errors.TransportError("refused", { outcome: "not-sent" });

describe("retries", () => {
  it("repeats a read until it succeeds", async () => {
    const { client, clock, journal } = clientAnswering(
      (_, call) => [{ status: 503, body: "" }, lost(), refused()][call - 1] ?? {},
    );
    const got = client.get(Pod, web);
    await clock.advance(5000);
    await got;
    expect(journal.calls.length).toBe(4);
  });

  it("never repeats a write that the server may have received", async () => {
    const { client, journal } = clientAnswering(lost);
    await expect(client.create(ConfigMap, configMap)).rejects.toMatchObject({ code: "TRANSPORT_FAILED", outcome: "unknown" });
    expect(journal.calls.length).toBe(1);
  });

  it("repeats a write that was certainly not sent", async () => {
    const { client, clock, journal } = clientAnswering((_, call) => (call === 1 ? refused() : {}));
    const created = client.create(ConfigMap, configMap);
    await clock.advance(1000);
    await created;
    expect(journal.calls.length).toBe(2);
  });

  it("waits for the Retry-After of a busy server, and so do all other calls", async () => {
    const { client, clock, journal } = clientAnswering((_, call) =>
      call === 1 ? { status: 429, headers: { "retry-after": "7" }, body: "" } : {},
    );
    const both = [client.create(ConfigMap, configMap), clock.advance(1).then(() => client.get(Pod, web))];
    await clock.advance(6900);
    expect(journal.calls.length).toBe(1);
    await clock.advance(1000);
    await Promise.all(both);
    expect(journal.calls.length).toBe(3);
    expect(Math.min(...journal.calls.slice(1).map(({ at }) => at))).toBeGreaterThanOrEqual(7000);
  });

  it("caps a Retry-After of a day", async () => {
    const { client, clock } = clientAnswering((_, call) =>
      call === 1 ? { status: 429, headers: { "retry-after": "86400" }, body: "" } : {},
    );
    await expect(client.create(ConfigMap, configMap)).rejects.toMatchObject({ retryAfterSeconds: 86_400 });
    const later = clock.advance(20_000).then(() => client.get(Pod, web));
    await clock.advance(31_000);
    await later;
  });

  it("reports a PodDisruptionBudget rejection at once, and does not delay other calls", async () => {
    const { client, journal } = clientAnswering((request) =>
      request.method === "POST" ? { status: 429, headers: { "retry-after": "10" }, body: "" } : {},
    );
    await expect(evict(client, web)).rejects.toMatchObject({ code: "API_TOO_MANY_REQUESTS", retryAfterSeconds: 10 });
    await client.get(Pod, web);
    expect(journal.calls.length).toBe(2);
  });

  it("throws the error if the wait would exceed the deadline", async () => {
    const { client } = clientAnswering(() => ({ status: 429, headers: { "retry-after": "60" }, body: "" }));
    await expect(client.get(Pod, web, { timeoutMs: 5000 })).rejects.toBeInstanceOf(errors.TooManyRequestsError);
  });
});

describe("every call ends", () => {
  it("after its own timeout, with the outcome unknown", async () => {
    const { client, clock } = clientAnswering(never);
    const call = client.create(ConfigMap, configMap, { timeoutMs: 1000 }).catch((error: unknown) => error);
    await clock.advance(1000);
    expect(await call).toMatchObject({ name: "TimeoutError", code: "TRANSPORT_TIMEOUT", outcome: "unknown" });
  });

  it("after thirty seconds by default", async () => {
    const { client, clock } = clientAnswering(never);
    const call = client.get(Pod, web).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await call).toBeInstanceOf(errors.TimeoutError);
  });

  it("while it waits for the rate limit, certainly not sent", async () => {
    const { client, clock, journal } = clientAnswering(() => ({}), { rateLimit: { qps: 0.01, burst: 1 } });
    await client.get(Pod, web);
    const call = client.create(ConfigMap, configMap).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await call).toMatchObject({ code: "TRANSPORT_TIMEOUT", outcome: "not-sent" });
    expect(journal.calls.length).toBe(1);
  });

  it("with the reason of the caller's signal", async () => {
    const { client } = clientAnswering(never);
    const controller = new AbortController();
    const call = client.get(Pod, web, { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(call).rejects.toThrow("changed my mind");
    await expect(client.get(Pod, web, { signal: controller.signal })).rejects.toThrow("changed my mind");
  });

  it("and a deadline that passes between attempts reports the last error", async () => {
    const { client, clock } = clientAnswering((_, call) => (call === 1 ? { status: 503, body: "no etcd" } : never()));
    const call = client.get(Pod, web).catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await call).toMatchObject({ code: "TRANSPORT_TIMEOUT", message: expect.stringContaining("no etcd") });
  });

  it("and leaves no timer behind", async () => {
    const { client, clock } = clientAnswering(() => ({}));
    await client.get(Pod, web);
    expect(clock.pending).toBe(0);
  });
});

describe("the rate limit", () => {
  it("allows a burst, then a number of calls per second", async () => {
    const { client, clock, journal } = clientAnswering(() => ({}), { rateLimit: { qps: 10, burst: 5 } });
    const calls = Array.from({ length: 15 }, () => client.get(Pod, web));
    await clock.advance(0);
    expect(journal.calls.length).toBe(5);
    await clock.advance(500);
    expect(journal.calls.length).toBe(10);
    await clock.advance(500);
    await Promise.all(calls);
    expect(journal.calls.length).toBe(15);
  });

  it("never delays Leases or calls with high priority behind others", async () => {
    const { client, clock, journal } = clientAnswering(() => ({}), { rateLimit: { qps: 1, burst: 1 } });
    const crowd = Array.from({ length: 20 }, () => client.get(Pod, web, { timeoutMs: 60_000 }));
    await Promise.all([client.get(Lease, web), client.get(Pod, web, { priority: "high" })]);
    expect(journal.calls.length).toBe(3);
    await clock.advance(20_000);
    await Promise.all(crowd);
  });
});

describe("the observer receives", () => {
  it("every attempt, its status and its time", async () => {
    const heard: CallReport[] = [];
    const { client, clock } = clientAnswering((_, call) => (call === 1 ? { status: 503, body: "" } : {}), {
      observer: { called: (report) => heard.push(report) },
    });
    const got = client.get(Pod, web);
    await clock.advance(1000);
    await got;
    expect(heard.map(({ status, attempt, method }) => [method, status, attempt])).toEqual([
      ["GET", 503, 1],
      ["GET", 200, 2],
    ]);
  });

  it("the server's warnings", async () => {
    const heard: string[] = [];
    const headers = { warning: '299 - "unknown field \\"spec.x\\"", 299 - "v1beta1 is deprecated"' };
    const { client } = clientAnswering(() => ({ headers }), { observer: { warned: ({ text }) => heard.push(text) } });
    await client.get(Pod, web);
    expect(heard).toEqual(['unknown field "spec.x"', "v1beta1 is deprecated"]);
  });
});

const attempt = (method: Attempt["method"], over: Partial<Attempt> = {}): Attempt => ({
  method,
  number: 1,
  busyIsAnswer: false,
  ...over,
});
const random = () => 0;

describe("after a response", () => {
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

  it("waits at least as long as Retry-After, and longer on each attempt", () => {
    expect(after(attempt("GET"), 429, 30)).toBe(30_000);
    expect([1, 2, 3].map((number) => after(attempt("GET", { number }), 503))).toEqual([200, 400, 800]);
  });
});

describe("without a response", () => {
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

const usual = { request: { method: "GET", path: "/api/v1/pods" }, options: {} } as const;
const urgent = { ...usual, options: { priority: "high" } } as const;
const lease = { ...usual, request: { method: "GET", path: "/apis/coordination.k8s.io/v1/leases" } } as const;

it.each([
  { name: "usual calls", call: usual, lane: "normal", burst: 30, perSecond: 20 },
  { name: "urgent calls", call: urgent, lane: "high", burst: 20, perSecond: 10 },
  { name: "calls about Leases", call: lease, lane: "high", burst: 20, perSecond: 10 },
])("$name: $burst at once and $perSecond per second, and waits are reported", async ({ call, ...row }) => {
  const environment = manualEnvironment();
  const throttled: object[] = [];
  const lanes = makeLanes({ environment, observer: { throttled: (wait) => throttled.push(wait) } });
  let taken = 0;
  for (let at = 0; at < 100; at += 1)
    lanes
      .of(call)
      .take(new AbortController().signal)
      .then(() => {
        taken += 1;
      });
  await environment.clock.advance(0);
  expect([taken, throttled]).toEqual([row.burst, []]);
  await environment.clock.advance(1_000);
  expect(taken).toBe(row.burst + row.perSecond);
  expect(throttled[0]).toEqual({ lane: row.lane, waitedMs: 1_000 / row.perSecond });
});
