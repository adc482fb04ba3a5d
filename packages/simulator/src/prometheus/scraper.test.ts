import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Sample } from "./exposition.ts";
import { startPrometheus } from "./prometheus.ts";

const second = 1_000;
const minute = 60 * second;

/** A Prometheus and one target, whose samples the test sets. */
function world(options: { readonly retentionMs?: number } = {}) {
  const environment = manualEnvironment();
  const { clock } = environment;
  const target = { says: [] as readonly Sample[], isDown: false };
  const scrape = () => {
    if (target.isDown) throw new Error("connection refused");
    return target.says;
  };
  const targets = [{ labels: { job: "test", instance: "one" }, scrape }];
  const prometheus = startPrometheus({ environment, targets, ...options });
  const ask = async (query: string, more: Record<string, string> = {}) => {
    const { body } = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query, ...more } });
    const { data } = JSON.parse(body as string) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return data.result.map(({ value }) => value[1]);
  };
  return { clock, target, prometheus, ask };
}

const plain = (value: number): Sample => ({ name: "plain", labels: { pod: "web" }, value });

describe("a scrape", () => {
  it("happens every fifteen seconds and adds the labels of the target", async () => {
    const { clock, target, prometheus } = world();
    target.says = [plain(1)];
    await clock.advance(61 * second);
    const { body } = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "plain[5m]" } });
    expect(JSON.parse(body as string).data.result).toEqual([
      {
        metric: { __name__: "plain", instance: "one", job: "test", pod: "web" },
        values: [15, 30, 45, 60].map((seconds) => [Date.UTC(2026, 0, 1) / 1_000 + seconds, "1"]),
      },
    ]);
  });

  it("renames conflicting labels of a sample to exported_…", async () => {
    const { clock, target, ask } = world();
    target.says = [{ name: "plain", labels: { instance: "mine" }, value: 3 }];
    await clock.advance(15 * second);
    expect(await ask('plain{instance="one",exported_instance="mine"}')).toEqual(["3"]);
  });

  it("ends a series immediately when it is missing", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(20 * second);
    expect(await ask("plain")).toEqual(["1"]);
    target.says = [];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual([]);
    target.says = [plain(2)];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual(["2"]);
  });

  it("of a target that is down ends its series and sets up to 0", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(20 * second);
    target.isDown = true;
    await clock.advance(15 * second);
    expect([await ask("plain"), await ask("up")]).toEqual([[], ["0"]]);
  });

  it("keeps a series with timestamps for five minutes, so that a dead container seems to use memory", async () => {
    const { clock, target, ask } = world();
    target.says = [{ ...plain(1), timestampMs: clock.now() }];
    await clock.advance(15 * second);
    target.says = [];
    await clock.advance(4 * minute);
    expect(await ask("plain")).toEqual(["1"]);
    expect(await ask("time() - timestamp(plain)")).toEqual(["255"]);
    await clock.advance(minute);
    expect(await ask("plain")).toEqual([]);
  });

  it("drops samples that are older than the last one", async () => {
    const { clock, target, ask } = world();
    target.says = [{ ...plain(1), timestampMs: clock.now() + 10 * second }];
    await clock.advance(15 * second);
    target.says = [{ ...plain(2), timestampMs: clock.now() - 20 * second }];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual(["1"]);
  });

  it("continues when the wall clock is set ahead", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(15 * second);
    clock.stepWallClock(60 * minute);
    target.says = [plain(2)];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual(["2"]);
  });

  it("stores nothing after the wall clock is set back until it has caught up", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(20 * minute);
    clock.stepWallClock(-10 * minute);
    const measured = { ...plain(4), name: "measured", timestampMs: clock.now() };
    target.says = [plain(2), { ...plain(3), name: "fresh" }, measured];
    await clock.advance(4 * minute);
    expect(await ask("plain")).toEqual(["1"]); // the value before the step
    expect(await ask("fresh")).toEqual([]);
    expect(await ask("measured")).toEqual(["4"]); // has its own timestamp, and no later sample
    await clock.advance(6 * minute + 15 * second);
    expect([await ask("plain"), await ask("fresh")]).toEqual([["2"], ["3"]]);
  });

  it("drops samples that are an hour older than the newest", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(minute);
    clock.stepWallClock(-62 * minute);
    const measured = () => ({ ...plain(3), name: "measured", timestampMs: clock.now() });
    target.says = [measured()];
    await clock.advance(30 * second);
    expect(await ask("measured")).toEqual([]);
    await clock.advance(2 * minute);
    target.says = [measured()];
    await clock.advance(15 * second);
    expect(await ask("measured")).toEqual(["3"]);
  });

  it("is dropped after the retention period, and a series that continues has no gap", async () => {
    const { clock, target, prometheus, ask } = world({ retentionMs: 10 * minute });
    target.says = [plain(1)];
    await clock.advance(minute);
    target.says = [];
    await clock.advance(60 * minute);
    expect(prometheus.store.size).toBe(1);
    target.says = [plain(2)];
    await clock.advance(minute);
    expect(await ask("plain")).toEqual(["2"]);
  });

  it("is found within the lookback period of the query", async () => {
    const { clock, target, ask } = world();
    target.says = [{ ...plain(1), timestampMs: clock.now() }];
    await clock.advance(minute);
    expect(await ask("plain", { lookback_delta: "30s" })).toEqual([]);
    expect(await ask("plain", { lookback_delta: "61" })).toEqual(["1"]);
  });
});
