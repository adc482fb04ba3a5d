import { manualEnvironment } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { accelerated } from "./full-cluster.ts";

it("Accelerated time: timers, sleeps and both clocks run ten times as fast", async () => {
  const real = manualEnvironment();
  const { clock } = accelerated(real, 10);
  const [now, monotonic] = [clock.now(), clock.monotonic()];
  const fired: string[] = [];
  clock.after(50_000, () => fired.push("timer"));
  void clock.sleep(30_000).then(() => fired.push("sleeper"));
  await real.clock.advance(2_999);
  expect(fired).toEqual([]);
  await real.clock.advance(1);
  expect(fired).toEqual(["sleeper"]);
  await real.clock.advance(2_000);
  expect(fired).toEqual(["sleeper", "timer"]);
  expect([clock.now() - now, clock.monotonic() - monotonic]).toEqual([50_000, 50_000]);
});

it("Accelerated time rejects a speed of 0", () =>
  expect(() => accelerated(manualEnvironment(), 0)).toThrow("expected a speed above 0"));
