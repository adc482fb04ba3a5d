import { describe, expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { OperatorMetrics } from "./metrics.ts";
import { observeCalls } from "./observe-calls.ts";

function world(verbosity: number) {
  const lines: string[] = [];
  const say = (_fields: object, message: string) => lines.push(message);
  const metrics = new OperatorMetrics();
  const observer = observeCalls({ metrics, log: { ...silentLogger, debug: say, info: say, warn: say }, verbosity, host: "x:1" });
  return { lines, metrics, observer };
}
const report = { method: "GET", path: "/api/v1/pods", status: 200, durationMs: 12, attempt: 1 };

describe("what the client tells", () => {
  it("is counted at every verbosity and logged call by call from -v6 on", async () => {
    for (const verbosity of [0, 5, 6]) {
      const { lines, metrics, observer } = world(verbosity);
      observer.called?.(report);
      expect((await metrics.text()).body).toContain('rest_client_requests_total{code="200",method="GET",host="x:1"} 1');
      expect(lines).toEqual(verbosity >= 6 ? ["API call"] : []);
    }
  });

  it("is said once for each warning of the server, however often it comes", () => {
    const { lines, observer } = world(0);
    for (let i = 0; i < 3; i += 1) observer.warned?.({ attempt: "list Gordon", text: "v1beta1 is deprecated" });
    observer.warned?.({ attempt: "list Gordon", text: "unknown field" });
    expect(lines).toEqual(["the API server warns: v1beta1 is deprecated", "the API server warns: unknown field"]);
  });

  it("is said about our own rate limit from one second on", () => {
    const { lines, observer } = world(0);
    observer.throttled?.({ lane: "normal", waitedMs: 900 });
    observer.throttled?.({ lane: "normal", waitedMs: 1_100 });
    expect(lines).toEqual(["held back by our own rate limit"]);
  });
});
