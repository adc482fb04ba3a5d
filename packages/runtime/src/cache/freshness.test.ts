import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { Freshness } from "./freshness.ts";

/** What becomes of it; everything that is told or logged, in order. */
function told() {
  const clock = manualClock();
  const said: string[] = [];
  const say = (_fields: object, message: string) => said.push(message.replace(/:.*/, ""));
  const log = { ...silentLogger, info: say, warn: say };
  const freshness = new Freshness({ clock, log, toleranceMs: 1_000, onChange: () => said.push(freshness.state) });
  return { clock, freshness, said };
}

it("is told once, however much is heard", () => {
  const { freshness, said } = told();
  expect(freshness.state).toBe("starting");
  for (let events = 0; events < 3; events += 1) freshness.alive();
  expect(said).toEqual(["live"]);
});

it("what was never known cannot be lost", async () => {
  const { clock, freshness, said } = told();
  freshness.lost(new Error("410"));
  freshness.disconnected(new Error("reset"));
  await clock.advance(1_000);
  expect([freshness.state, said]).toEqual(["starting", []]);
});

it("is lost once, and found again", () => {
  const { freshness, said } = told();
  freshness.alive();
  freshness.lost(new Error("410"));
  freshness.lost(new Error("410"));
  freshness.alive();
  expect(said).toEqual(["live", "cache is stale", "stale", "cache has caught up", "live"]);
});

it("has patience with a connection from when it was first missed, and none is left over", async () => {
  const { clock, freshness } = told();
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
