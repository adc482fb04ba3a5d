import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock, Environment } from "../concurrency/environment.ts";
import { manualClock, manualEnvironment } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { eventually } from "../testing/eventually.ts";
import { loopback } from "../testing/loopback.ts";
import type { WatchEvent, WatchOptions } from "./client.ts";
import { type ClientOptions, createClient } from "./create-client.ts";
import * as errors from "./errors.ts";
import { BrokenStreamError } from "./errors.ts";
import { UnansweredError } from "./transport/transport.ts";
import { idleWatchdog, LineSplitter, pace } from "./watch.ts";

const event = (type: string, name: string, more: object = {}) =>
  `${JSON.stringify({ type, object: { kind: "ConfigMap", metadata: { namespace: "x", name, resourceVersion: "1" }, ...more } })}\n`;
const bookmark = (annotations?: object) =>
  `${JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "9", annotations } } })}\n`;
const status = (code: number, reason: string) => ({ kind: "Status", code, reason, message: "because" });

const short = (event: WatchEvent<ConfigMap>) =>
  event.type === "BOOKMARK"
    ? `BOOKMARK ${event.resourceVersion} ${event.initialEventsEnd}`
    : `${event.type} ${event.object.metadata.name}`;

/** Everything a watch delivers, and how it ends. */
async function watching(events: AsyncIterable<WatchEvent<ConfigMap>>) {
  const seen: string[] = [];
  try {
    for await (const event of events) seen.push(short(event));
    return { seen, end: undefined };
  } catch (end) {
    return { seen, end };
  }
}

/** A server that answers every request by this, and a client of it. */
async function serving(answer: (response: ServerResponse, url: string) => void, options: Partial<ClientOptions> = {}) {
  const environment: Environment = options.environment ?? systemEnvironment();
  const server = await loopback((request, response) => answer(response, request.url ?? ""));
  const client = createClient({ config: server.config, ...options, environment });
  const watch = (over: WatchOptions<ConfigMap> = {}) => client.watch(ConfigMap, over);
  const close = async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  };
  return { server, client, watch, [Symbol.asyncDispose]: close };
}

describe("a watch", () => {
  it("delivers events and bookmarks, and ends when the server ends it between two of them", async () => {
    const text =
      event("ADDED", "a") +
      event("MODIFIED", "a") +
      bookmark() +
      event("DELETED", "a") +
      bookmark({ "k8s.io/initial-events-end": "true" });
    await using it = await serving((response) => response.end(text));
    expect(await watching(it.watch())).toEqual({
      seen: ["ADDED a", "MODIFIED a", "BOOKMARK 9 false", "DELETED a", "BOOKMARK 9 true"],
      end: undefined,
    });
  });

  it("delivers the same events for any chunk boundaries", async () => {
    const text = Buffer.from(event("ADDED", "žluťoučký 🐎") + event("DELETED", "b"));
    let at = 0;
    await using it = await serving(
      async (response) => {
        response.write(text.subarray(0, at));
        await settled(); // so that the two halves are two chunks
        response.end(text.subarray(at));
      },
      { rateLimit: { qps: 10_000, burst: 10_000 } },
    );
    for (at = 1; at < text.length; at += 1) {
      expect(await watching(it.watch())).toEqual({ seen: ["ADDED žluťoučký 🐎", "DELETED b"], end: undefined });
    }
  });

  it("requests bookmarks, a timeout of at least five minutes, and the given options", async () => {
    const urls: URL[] = [];
    await using it = await serving(
      (response, url) => {
        urls.push(new URL(url, "http://x"));
        response.end();
      },
      { environment: manualEnvironment() },
    );
    await watching(it.watch());
    await watching(
      it.watch({ namespace: "x", labelSelector: "a=b", fieldSelector: "c=d", resourceVersion: "5", timeoutSeconds: 7 }),
    );
    await watching(it.watch({ sendInitialEvents: true }));
    const [plain, narrow, initial] = urls.map(({ pathname, searchParams }) => ({
      pathname,
      ...Object.fromEntries(searchParams),
    }));
    expect(plain).toMatchObject({ pathname: "/api/v1/configmaps", watch: "true", allowWatchBookmarks: "true" });
    expect(plain).not.toHaveProperty("resourceVersion");
    expect(Number((plain as { timeoutSeconds?: string }).timeoutSeconds)).toBeGreaterThanOrEqual(300);
    expect(narrow).toMatchObject({
      pathname: "/api/v1/namespaces/x/configmaps",
      labelSelector: "a=b",
      fieldSelector: "c=d",
      resourceVersion: "5",
      timeoutSeconds: "7",
    });
    expect(initial).toMatchObject({ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" });
  });

  it("projects each object before it is delivered, and does not change bookmarks", async () => {
    await using it = await serving((response) =>
      response.end(event("ADDED", "a", { data: { big: "x".repeat(1000) } }) + bookmark()),
    );
    const events = await Array.fromAsync(it.watch({ project: ({ metadata, kind }) => ({ kind: kind ?? "", metadata }) }));
    expect(events[0]).toEqual({
      type: "ADDED",
      object: { kind: "ConfigMap", metadata: { namespace: "x", name: "a", resourceVersion: "1" } },
    });
    expect(events[1]?.type).toBe("BOOKMARK");
  });

  it("reports that it is open before the first event", async () => {
    await using it = await serving((response) => response.flushHeaders());
    const controller = new AbortController();
    const open = Promise.withResolvers<void>();
    const watch = watching(it.watch({ onOpen: open.resolve, signal: controller.signal }));
    await open.promise;
    controller.abort();
    expect((await watch).seen).toEqual([]);
  });

  it("skips and reports events of an unknown type", async () => {
    const skipped: string[] = [];
    await using it = await serving(
      (response) => response.end(event("ADDED", "a") + event("SNEEZED", "a") + event("DELETED", "a")),
      {
        observer: { skippedEvent: ({ type }) => skipped.push(type) },
      },
    );
    expect(await watching(it.watch())).toEqual({ seen: ["ADDED a", "DELETED a"], end: undefined });
    expect(skipped).toEqual(["SNEEZED"]);
  });

  it.each([
    { name: "an end in peace", answer: (r) => r.end(event("ADDED", "a") + bookmark()) },
    { name: "a last line that is cut", answer: (r) => r.end(event("ADDED", "a") + event("ADDED", "b").slice(0, 20)) },
    { name: "a connection that is cut", answer: (r) => r.write(event("ADDED", "a"), () => r.destroy()) },
    { name: "410", answer: (r) => r.end(`${JSON.stringify({ type: "ERROR", object: status(410, "Expired") })}\n`) },
    { name: "a refusal", answer: (r) => r.writeHead(403).end("{}") },
    { name: "nonsense", answer: (r) => r.end("<html>\n") },
  ] satisfies { name: string; answer: (response: ServerResponse) => unknown }[])(
    "with a callback delivers and ends as a loop does: $name",
    async ({ answer }) => {
      await using it = await serving((response) => void answer(response));
      const seen: string[] = [];
      const following = it.client.follow?.(ConfigMap, (each) => seen.push(short(each)));
      const end = await following?.catch((error: unknown) => error);
      const loop = await watching(it.watch());
      expect(seen).toEqual(loop.seen);
      expect((end as Error | undefined)?.constructor).toBe((loop.end as Error | undefined)?.constructor);
    },
  );

  it("closes the connection when the consumer leaves", async () => {
    let closed = false;
    await using it = await serving((response) => {
      response.on("close", () => (closed = true));
      response.write(event("ADDED", "a"));
    });
    for await (const _ of it.watch()) break;
    await eventually(() => closed, Boolean);
  });

  it("applies backpressure when the consumer is slow, and loses nothing", async () => {
    const big = { data: { big: "x".repeat(100_000) } };
    let sent = 0;
    await using it = await serving(async (response) => {
      for (sent = 0; sent < 200; sent += 1) {
        if (!response.write(event("ADDED", `n${sent}`, big))) await new Promise((drained) => response.once("drain", drained));
      }
      response.end();
    });
    let seen = 0;
    for await (const _ of it.watch()) {
      seen += 1;
      // Look after the first event, when the sender has had every chance to run ahead: 20 MB do not fit between us.
      if (seen === 1) for (let turn = 0; turn < 100; turn += 1) await settled();
      if (seen === 1) expect(sent).toBeLessThan(200);
    }
    expect(seen).toBe(200);
  });
});

describe("a watch fails", () => {
  it("as broken when the last event is truncated", async () => {
    await using it = await serving((response) => response.end(event("ADDED", "a") + event("ADDED", "b").slice(0, 30)));
    const { seen, end } = await watching(it.watch());
    expect(seen).toEqual(["ADDED a"]);
    expect(end).toBeInstanceOf(errors.BrokenStreamError);
  });

  it("as broken when the connection is reset, after delivering the events received so far", async () => {
    await using it = await serving((response) => response.write(event("ADDED", "a")));
    const seen: string[] = [];
    const run = async () => {
      for await (const event of it.watch()) {
        seen.push(short(event));
        it.server.reset();
      }
    };
    await expect(run()).rejects.toBeInstanceOf(errors.BrokenStreamError);
    expect(seen).toEqual(["ADDED a"]);
  });

  it.each([
    { name: "half a JSON document on a whole line", text: '{"type":"ADDED","object":{"data":{"password":"aHVudGVyMg==\n' },
    { name: "JSON that is no event", text: '{"kind":"Status"}\n' },
    { name: "null", text: "null\n" },
  ])("as broken on $name, and the message does not contain it", async ({ text }) => {
    await using it = await serving((response) => response.end(text));
    const { end } = await watching(it.watch());
    expect(end).toBeInstanceOf(errors.BrokenStreamError);
    expect(String(end)).not.toContain("aHVudGVyMg");
  });

  it.each([
    { code: 410, reason: "Expired", is: errors.ExpiredError },
    { code: 410, reason: "Gone", is: errors.ExpiredError },
    { code: 500, reason: "InternalError", is: errors.InternalError },
    { code: 403, reason: "Forbidden", is: errors.ForbiddenError },
  ])("with the error of an ERROR event: $code $reason", async ({ code, reason, is }) => {
    const text = event("ADDED", "a") + JSON.stringify({ type: "ERROR", object: status(code, reason) });
    await using it = await serving((response) => response.end(`${text}\n`));
    const { seen, end } = await watching(it.watch());
    expect(seen).toEqual(["ADDED a"]);
    expect(end).toBeInstanceOf(is);
  });

  it("with the server's error when it cannot start", async () => {
    await using it = await serving((response) => response.writeHead(422).end(JSON.stringify(status(422, "Invalid"))));
    expect((await watching(it.watch({ sendInitialEvents: true }))).end).toBeInstanceOf(errors.InvalidError);
  });

  it("at once when there is no server: reconnecting is the caller's task", async () => {
    await using it = await serving(() => {});
    await it.server[Symbol.asyncDispose]();
    expect((await watching(it.watch())).end).toMatchObject({ code: "TRANSPORT_FAILED", outcome: "not-sent" });
  });

  it("with the reason of the signal, before, between and during events", async () => {
    await using it = await serving((response) => response.write(event("ADDED", "a")));
    const controller = new AbortController();
    const { signal } = controller;
    const run = async () => {
      for await (const _ of it.watch({ signal })) setImmediate(() => controller.abort(new Error("stop")));
    };
    await expect(run()).rejects.toThrow("stop");
    expect((await watching(it.watch({ signal }))).end).toBe(signal.reason);
  });

  it("as idle when nothing arrives for too long, and then uses another connection", async () => {
    const environment = manualEnvironment();
    await using it = await serving((response) => response.write(event("ADDED", "a")), { environment });
    const seen: string[] = [];
    const idle = (async () => {
      for await (const event of it.watch({ idleMs: 1000 })) seen.push(short(event));
    })().catch((error: unknown) => error);
    await eventually(
      () => seen,
      ({ length }) => length === 1,
    );
    expect(await eventuallyEnded(idle, () => environment.clock.advance(500))).toBeInstanceOf(errors.IdleWatchError);
    for await (const _ of it.watch()) break;
    expect(it.server.connections).toBe(2);
  });

  it.each([
    { name: "in the time that any call has", timeoutMs: undefined, message: "30000" },
    { name: "in a time of its own", timeoutMs: 7_000, message: "7000" },
  ])("$name when the server accepts the request and never answers", async ({ timeoutMs, message }) => {
    const environment = manualEnvironment();
    await using it = await serving(() => {}, { environment });
    const watch = watching(it.watch({ idleMs: 600_000, timeoutMs }));
    const { end } = await eventuallyEnded(watch, () => environment.clock.advance(5000));
    expect(end).toBeInstanceOf(errors.TimeoutError);
    expect(String(end)).toContain(` ${message} ms`);
  });
});

/** Moves time on until the promise has an end; real I/O goes on in between. */
async function eventuallyEnded<T>(promise: Promise<T>, tick: () => Promise<void>): Promise<T> {
  let ended = false;
  const result = promise.finally(() => (ended = true));
  while (!ended) await tick();
  return result;
}

const text = 'first\n{"name":"žluťoučký 🐎"}\n\nlast\n';
const lines = ["first", '{"name":"žluťoučký 🐎"}', "last"];

function split(chunks: readonly Uint8Array[]): string[] {
  const splitter = new LineSplitter("test", 1000);
  return chunks.flatMap((chunk) => [...splitter.push(chunk)]);
}

describe("a line splitter", () => {
  it("finds the same lines for any split of the stream in two", () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(lines);
  });

  it("finds the same lines for any number of chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" })),
        fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
        (words, sizes) => {
          const expected = words.map((word) => word.replaceAll("\n", "")).filter((word) => word !== "");
          let rest = Buffer.from(expected.map((word) => `${word}\n`).join(""));
          const chunks: Buffer[] = [];
          for (const size of sizes) {
            if (rest.length === 0) break;
            chunks.push(rest.subarray(0, size));
            rest = rest.subarray(size);
          }
          expect(split(chunks)).toEqual(expected);
        },
      ),
    );
  });

  it("knows how much of an unfinished line it holds", () => {
    const splitter = new LineSplitter("test", 1000);
    expect([...splitter.push(Buffer.from("whole\nha"))]).toEqual(["whole"]);
    expect(splitter.unfinished).toBe(2);
    expect([...splitter.push(Buffer.from("lf\n"))]).toEqual(["half"]);
    expect(splitter.unfinished).toBe(0);
  });

  it("rejects an endless line instead of filling the memory", () => {
    const splitter = new LineSplitter("test", 10);
    expect(() => [...splitter.push(Buffer.from("12345678901"))]).toThrow(BrokenStreamError);
  });
});

describe("the idle watchdog", () => {
  it("aborts after a full period without data", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    await clock.advance(999);
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(idle.signal.reason).toBeInstanceOf(UnansweredError);
  });

  it("restarts with all data received", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    for (let chunk = 0; chunk < 10; chunk += 1) {
      await clock.advance(900);
      idle.heard();
      idle.listen();
    }
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1000);
    expect(idle.signal.aborted).toBe(true);
  });

  it("does not count the time a slow consumer takes", async () => {
    const clock = manualClock();
    using idle = idleWatchdog(clock, 1000, "watch Pod");
    idle.heard();
    await clock.advance(60_000);
    expect(idle.signal.aborted).toBe(false);
    idle.listen();
    await clock.advance(999);
    expect(idle.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(idle.signal.aborted).toBe(true);
  });

  it("leaves no timer behind", () => {
    const clock = manualClock();
    idleWatchdog(clock, 1000, "watch Pod")[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});

/** A clock on which every look costs a millisecond: work without working. */
function busyClock(): Clock {
  let now = 0;
  return { ...manualClock(), monotonic: () => (now += 1) };
}

async function work(steps: number, pause: ReturnType<typeof pace>, done: () => void): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    const rest = pause();
    if (rest !== undefined) await rest;
    done();
  }
}

describe("yielding during a burst", () => {
  it("lets the event loop run before the burst is over", async () => {
    let steps = 0;
    const burst = work(100, pace(busyClock(), 5), () => (steps += 1));
    await settled();
    const whenTheLoopTurned = steps;
    await burst;
    expect(whenTheLoopTurned).toBeLessThan(10);
    expect(steps).toBe(100);
  });

  it("yields for one of many concurrent bursts at a time, and for each eventually", async () => {
    const steps = [0, 0, 0, 0];
    const pause = pace(busyClock(), 5);
    const bursts = steps.map((_, index) => work(50, pause, () => (steps[index] = (steps[index] ?? 0) + 1)));
    await settled();
    await settled();
    expect(Math.max(...steps)).toBeLessThan(15);
    await Promise.all(bursts);
    expect(steps).toEqual([50, 50, 50, 50]);
  });

  it("never pauses while no time passes, so a simulated run is the same each time", async () => {
    const pause = pace(manualClock(), 5);
    for (let step = 0; step < 1000; step += 1) expect(pause()).toBeUndefined();
  });
});
