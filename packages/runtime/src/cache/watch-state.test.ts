import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { Freshness } from "./watch-state.ts";

/** A Freshness, and its states and log messages in order. */
function recordedFreshness() {
  const clock = manualClock();
  const said: string[] = [];
  const say = (_fields: object, message: string) => said.push(message.replace(/:.*/, ""));
  const log = { ...silentLogger, info: say, warn: say };
  const freshness = new Freshness({ clock, log, toleranceMs: 1_000, onChange: () => said.push(freshness.state) });
  return { clock, freshness, said };
}

it("Freshness: reports live once, however often it is alive", () => {
  const { freshness, said } = recordedFreshness();
  expect(freshness.state).toBe("starting");
  for (let events = 0; events < 3; events += 1) freshness.alive();
  expect(said).toEqual(["live"]);
});

it("Freshness: never becomes stale before it was live", async () => {
  const { clock, freshness, said } = recordedFreshness();
  freshness.lost(new Error("410"));
  freshness.disconnected(new Error("reset"));
  await clock.advance(1_000);
  expect([freshness.state, said]).toEqual(["starting", []]);
});

it("Freshness: becomes stale once, and live again", () => {
  const { freshness, said } = recordedFreshness();
  freshness.alive();
  freshness.lost(new Error("410"));
  freshness.lost(new Error("410"));
  freshness.alive();
  expect(said).toEqual(["live", "cache is stale", "stale", "cache has caught up", "live"]);
});

it("Freshness: counts the tolerance from the first disconnect, and leaves no timer behind", async () => {
  const { clock, freshness } = recordedFreshness();
  freshness.alive();
  freshness.disconnected(new Error("reset"));
  await clock.advance(600);
  freshness.disconnected(new Error("refused"));
  await clock.advance(399);
  expect(freshness.state).toBe("live");
  await clock.advance(1);
  expect(freshness.state).toBe("stale");
  freshness.alive();
  freshness.disconnected(new Error("reset"));
  freshness.alive();
  expect(clock.pending).toBe(0);
});
