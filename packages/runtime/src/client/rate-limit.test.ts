import { expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { makeLanes } from "./rate-limit.ts";

const usual = { request: { method: "GET", path: "/api/v1/pods" }, options: {} } as const;
const urgent = { ...usual, options: { priority: "high" } } as const;
const lease = { ...usual, request: { method: "GET", path: "/apis/coordination.k8s.io/v1/leases" } } as const;

it.each([
  { name: "usual calls", call: usual, lane: "normal", burst: 30, perSecond: 20 },
  { name: "urgent calls", call: urgent, lane: "high", burst: 20, perSecond: 10 },
  { name: "calls about Leases", call: lease, lane: "high", burst: 20, perSecond: 10 },
])("$name go out $burst at once and $perSecond a second, and who had to wait is told of", async ({ call, ...row }) => {
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
