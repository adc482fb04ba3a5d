// W3 with the times of production: faults that nobody reports. See bad-line.fixture.ts.
import { describe, expect, it } from "vitest";
import { BrokenStreamError, TimeoutError } from "../client/errors.ts";
import { type Logger, silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { BadLine } from "./bad-line.fixture.ts";
import { Cache } from "./cache.ts";
import { ScriptedApi } from "./scripted-api.fixture.ts";

const ref = (name: string) => ({ namespace: "home", name });
const config = (name: string): ConfigMap => ({ metadata: ref(name) });

/** A cache that is in order and has been so for a second, at the end of a line. */
async function following() {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  const { clock } = environment;
  const line = new BadLine(api, clock);
  const said: string[] = [];
  const log = writingDown(said);
  const cache = new Cache<ConfigMap>({ client: line, kind: ConfigMap, namespaces: "all", environment, log });
  api.put(ConfigMap, config("a"));
  cache.start();
  await clock.advance(1_000);
  /** Seconds until it is so, at most an hour. */
  const secondsUntil = async (isSo: () => boolean) => {
    for (let seconds = 0; seconds < 3_600; seconds += 1) {
      if (isSo()) return seconds;
      await clock.advance(1_000);
    }
    return Number.POSITIVE_INFINITY;
  };
  const names = () => [...cache.objects()].map(({ metadata }) => metadata.name).sort();
  return { api, line, cache, clock, secondsUntil, names, said, [Symbol.asyncDispose]: () => cache.stop() };
}

/** Everything that people would be told. */
function writingDown(said: string[]): Logger {
  const write = (_: object, message: string) => said.push(message);
  const log: Logger = { ...silentLogger, info: write, warn: write, error: write, child: () => log };
  return log;
}

/** The fault may end in any phase of our waiting. */
const phases = Array.from({ length: 20 }, (_, at) => at * 6);

describe("W3: silence", () => {
  it.each([60, 180, 300, 480, 600])(
    "of everything for %d s or a little more: right within a minute of its end",
    async (length) => {
      for (const phase of phases) {
        await using it = await following();
        it.line.fault = "half-open";
        await it.clock.advance((length + phase) * 1_000);
        it.line.fault = "none";
        it.api.put(ConfigMap, config("b"));
        expect(await it.secondsUntil(() => it.cache.synced && it.names().includes("b"))).toBeLessThanOrEqual(60);
      }
    },
  );

  it("of everything is told within a minute and a half, and asks no more often than a server that is down", async () => {
    await using it = await following();
    it.line.fault = "half-open";
    expect(await it.secondsUntil(() => !it.cache.synced)).toBeLessThanOrEqual(90);
    const before = it.line.asked;
    await it.clock.advance(600_000);
    expect(it.line.asked - before).toBeLessThanOrEqual(600 / 30);
  });

  it("of watches that were accepted: the cache is listed, rather than wrong for ever", async () => {
    await using it = await following();
    it.api.put(ConfigMap, config("a")); // busy, so far
    await it.clock.advance(0);
    it.line.fault = "mute";
    it.api.cutWatches(new BrokenStreamError("reset"));
    await it.clock.advance(0);
    it.api.remove(ConfigMap, ref("a"));
    for (const name of ["b", "c", "d"]) {
      it.api.put(ConfigMap, config(name));
      expect(await it.secondsUntil(() => it.names().includes(name))).toBeLessThanOrEqual(60);
    }
    expect([it.names(), it.cache.synced]).toEqual([["b", "c", "d"], true]);
    expect(it.said).toContain("watch was accepted and stayed mute: listing instead, until one tells something");
  });

  it("of watches that were accepted is said once, until one of them tells something", async () => {
    await using it = await following();
    for (const round of [1, 2]) {
      it.line.fault = "mute";
      it.api.cutWatches();
      await it.secondsUntil(() => false); // an hour
      expect([it.said.length, it.cache.synced]).toEqual([round, true]);
      it.line.fault = "none";
      it.api.cutWatches();
      await it.clock.advance(5_000);
      it.api.put(ConfigMap, config(`seen ${round}`));
      expect(await it.secondsUntil(() => it.names().includes(`seen ${round}`))).toBe(1);
    }
    expect(it.api.calls.filter((call) => call.startsWith("list")).length).toBeLessThanOrEqual(2 + 7_200 / 50);
  });

  it("of watches that were accepted, while nothing can be listed: the cache says that it does not know", async () => {
    await using it = await following();
    it.line.fault = "mute";
    it.api.cutWatches();
    await it.clock.advance(0);
    it.line.fault = "half-open";
    expect(await it.secondsUntil(() => !it.cache.synced)).toBeLessThanOrEqual(90);
    it.line.fault = "mute"; // a watch that opens is no proof
    it.api.refuse = (call) => (call.startsWith("watch") ? undefined : new Error("no lists today"));
    await it.clock.advance(600_000);
    expect(it.cache.synced).toBe(false);
  });

  it("of a server that takes too long to collect a list in one piece: it is streamed after some tries", async () => {
    await using it = await following();
    const tried: (number | undefined)[] = [];
    it.line.scan = async (_kind, _take, { timeoutMs = 0, signal } = {}) => {
      tried.push(timeoutMs);
      await it.clock.sleep(timeoutMs, signal);
      throw new TimeoutError("no answer", { outcome: "unknown" });
    };
    it.api.historyFrom = Number.POSITIVE_INFINITY;
    it.api.cutWatches();
    it.api.put(ConfigMap, config("b"));
    expect(await it.secondsUntil(() => it.cache.synced && it.names().includes("b"))).toBeLessThanOrEqual(80);
    expect(tried).toEqual([10_000, 20_000, 40_000]);
  });

  it("of a quiet kind costs no listing, nor do events now and then", async () => {
    await using it = await following();
    await it.clock.advance(600_000);
    for (let minute = 0; minute < 20; minute += 1) {
      it.api.put(ConfigMap, config("now and then"));
      await it.clock.advance(minute * 10_000);
    }
    expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
  });

  it.each([2, 3, 5, 9])(
    "that a load balancer cuts after %d s leaves a quiet kind in order, without a word each time",
    async (s) => {
      await using it = await following();
      it.line.cutsIdleAfterMs = s * 1_000;
      let live = 0;
      for (let second = 0; second < 3_000; second += 1) {
        await it.clock.advance(1_000);
        live += it.cache.synced ? 1 : 0;
      }
      it.api.put(ConfigMap, config("b"));
      expect(await it.secondsUntil(() => it.names().includes("b"))).toBeLessThanOrEqual(s);
      expect([live, it.said]).toEqual([3_000, ["watch ended badly, trying again"]]);
      expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
      expect(it.api.calls.filter((call) => call.startsWith("watch")).length).toBeLessThan(3_000 / s);
    },
  );

  it("that a load balancer cuts short leaves a quiet kind in order", async () => {
    await using it = await following();
    it.line.cutsIdleAfterMs = 35_000;
    let connected = 0;
    let live = 0;
    for (let second = 0; second < 3_000; second += 1) {
      await it.clock.advance(1_000);
      connected += it.api.openWatches;
      live += it.cache.synced ? 1 : 0;
    }
    expect([connected, live]).toEqual([3_000, 3_000]);
    expect(it.api.calls.filter((call) => call.startsWith("watch")).length).toBeLessThan(100);
    expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
  });
});

it.each([-3_600_000, 3_600_000])(
  "M5: a wall clock that steps by %d ms changes nothing, on good days and on bad ones",
  async (step) => {
    const story = async (stepMs: number) => {
      await using it = await following();
      for (const fault of ["none", "half-open", "none", "mute", "none"] as const) {
        it.line.fault = fault;
        it.clock.stepWallClock(stepMs);
        it.api.put(ConfigMap, config(fault));
        for (let second = 0; second < 90; second += 1) await it.clock.advance(1_000);
      }
      return [it.api.calls, it.line.asked, it.names(), it.cache.synced];
    };
    expect(await story(step)).toEqual(await story(0));
  },
);
