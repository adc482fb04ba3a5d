import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Sample } from "./exposition.ts";
import { startPrometheus } from "./prometheus.ts";

const second = 1_000;
const minute = 60 * second;

/** A Prometheus and one target, which says what the test last told it to say. */
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
  it("comes every fifteen seconds, and adds the labels of the target", async () => {
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

  it("keeps a label of the target's own apart", async () => {
    const { clock, target, ask } = world();
    target.says = [{ name: "plain", labels: { instance: "mine" }, value: 3 }];
    await clock.advance(15 * second);
    expect(await ask('plain{instance="one",exported_instance="mine"}')).toEqual(["3"]);
  });

  it("ends a series that is not there any more at once", async () => {
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

  it("of a target that is down ends its series, and says so", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(20 * second);
    target.isDown = true;
    await clock.advance(15 * second);
    expect([await ask("plain"), await ask("up")]).toEqual([[], ["0"]]);
  });

  it("lets a series with times of its own live on for five minutes: a dead container seems to use memory", async () => {
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

  it("takes nothing that is older than what it has", async () => {
    const { clock, target, ask } = world();
    target.says = [{ ...plain(1), timestampMs: clock.now() + 10 * second }];
    await clock.advance(15 * second);
    target.says = [{ ...plain(2), timestampMs: clock.now() - 20 * second }];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual(["1"]);
  });

  it("goes on at once when the wall clock is set ahead", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(15 * second);
    clock.stepWallClock(60 * minute);
    target.says = [plain(2)];
    await clock.advance(15 * second);
    expect(await ask("plain")).toEqual(["2"]);
  });

  it("finds nothing that is new when the wall clock was set back, until it has caught up", async () => {
    const { clock, target, ask } = world();
    target.says = [plain(1)];
    await clock.advance(20 * minute);
    clock.stepWallClock(-10 * minute);
    const measured = { ...plain(4), name: "measured", timestampMs: clock.now() };
    target.says = [plain(2), { ...plain(3), name: "fresh" }, measured];
    await clock.advance(4 * minute);
    expect(await ask("plain")).toEqual(["1"]); // as it was then
    expect(await ask("fresh")).toEqual([]);
    expect(await ask("measured")).toEqual(["4"]); // has its own time, and nothing later is known of it
    await clock.advance(6 * minute + 15 * second);
    expect([await ask("plain"), await ask("fresh")]).toEqual([["2"], ["3"]]);
  });

  it("takes nothing at all that is an hour older than the newest", async () => {
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

  it("is forgotten after a while, and comes back without a gap if it goes on", async () => {
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

  it("looks back as far as the question says", async () => {
    const { clock, target, ask } = world();
    target.says = [{ ...plain(1), timestampMs: clock.now() }];
    await clock.advance(minute);
    expect(await ask("plain", { lookback_delta: "30s" })).toEqual([]);
    expect(await ask("plain", { lookback_delta: "61" })).toEqual(["1"]);
  });
});
