import { describe, expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { observeCalls } from "./connection.ts";
import { OperatorMetrics } from "./metrics.ts";

function world(verbosity: number) {
  const lines: string[] = [];
  const say = (_fields: object, message: string) => lines.push(message);
  const metrics = new OperatorMetrics();
  const observer = observeCalls({ metrics, log: { ...silentLogger, debug: say, info: say, warn: say }, verbosity, host: "x:1" });
  return { lines, metrics, observer };
}
const report = { method: "GET", path: "/api/v1/pods", status: 200, durationMs: 12, attempt: 1 };

describe("the call observer", () => {
  it("counts calls at every verbosity and logs each call from -v 6 on", async () => {
    for (const verbosity of [0, 5, 6]) {
      const { lines, metrics, observer } = world(verbosity);
      observer.called?.(report);
      expect((await metrics.text()).body).toContain('rest_client_requests_total{code="200",method="GET",host="x:1"} 1');
      expect(lines).toEqual(verbosity >= 6 ? ["API call"] : []);
    }
  });

  it("logs each warning of the server once", () => {
    const { lines, observer } = world(0);
    for (let i = 0; i < 3; i += 1) observer.warned?.({ attempt: "list Gordon", text: "v1beta1 is deprecated" });
    observer.warned?.({ attempt: "list Gordon", text: "unknown field" });
    expect(lines).toEqual(["warning from the API server: v1beta1 is deprecated", "warning from the API server: unknown field"]);
  });

  it("logs delays by the client-side rate limit from one second on", () => {
    const { lines, observer } = world(0);
    observer.throttled?.({ lane: "normal", waitedMs: 900 });
    observer.throttled?.({ lane: "normal", waitedMs: 1_100 });
    expect(lines).toEqual(["delayed by the client-side rate limit"]);
  });
});
