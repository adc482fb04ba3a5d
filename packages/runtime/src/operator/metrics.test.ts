import { describe, expect, it } from "vitest";
import { manualClock } from "../concurrency/manual-clock.ts";
import { callMetrics, OperatorMetrics, webhookMetrics } from "./metrics.ts";
import { addProcessMetrics } from "./process.ts";

const lines = async (metrics: OperatorMetrics) =>
  (await metrics.text()).body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("metrics", () => {
  it("have the names and labels of controller-runtime", async () => {
    const metrics = new OperatorMetrics();
    const labels = { name: "gordon", controller: "gordon" };
    metrics.count("workqueue_adds_total", labels);
    metrics.count("controller_runtime_reconcile_total", { controller: "gordon", result: "success" });
    metrics.gauge("workqueue_depth", labels, () => 3);
    metrics.gauge("leader_election_master_status", { name: "gordon-operator" }, () => 1);
    callMetrics(metrics, "127.0.0.1:6443").called?.({ method: "GET", path: "/", status: 200, durationMs: 20, attempt: 1 });
    callMetrics(metrics, "127.0.0.1:6443").called?.({ method: "PUT", path: "/", status: undefined, durationMs: 1, attempt: 1 });
    expect(await lines(metrics)).toEqual(
      expect.arrayContaining([
        'workqueue_adds_total{name="gordon",controller="gordon"} 1',
        'controller_runtime_reconcile_total{controller="gordon",result="success"} 1',
        'workqueue_depth{name="gordon",controller="gordon"} 3',
        'leader_election_master_status{name="gordon-operator"} 1',
        'rest_client_requests_total{code="200",method="GET",host="127.0.0.1:6443"} 1',
        'rest_client_requests_total{code="<error>",method="PUT",host="127.0.0.1:6443"} 1',
        'rest_client_request_duration_seconds_bucket{le="0.025",verb="GET",host="127.0.0.1:6443"} 1',
      ]),
    );
  });

  it("include custom metrics without a value yet", async () => {
    const metrics = new OperatorMetrics();
    metrics.count("controller_runtime_reconcile_panics_total", { controller: "gordon" }, 0);
    expect(await lines(metrics)).toEqual(['controller_runtime_reconcile_panics_total{controller="gordon"} 0']);
  });

  it("read gauges on scrape until they are canceled", async () => {
    const metrics = new OperatorMetrics();
    let depth = 1;
    const cancel = metrics.gauge("workqueue_depth", { name: "a", controller: "a" }, () => depth);
    metrics.gauge("workqueue_depth", { name: "b", controller: "b" }, () => 7);
    depth = 5;
    expect(await lines(metrics)).toEqual([
      'workqueue_depth{name="a",controller="a"} 5',
      'workqueue_depth{name="b",controller="b"} 7',
    ]);
    cancel();
    expect(await lines(metrics)).toEqual(['workqueue_depth{name="b",controller="b"} 7']);
  });

  it("of two operators in one process do not add up", async () => {
    const [one, other] = [new OperatorMetrics(), new OperatorMetrics()];
    one.count("operator_events_total", { outcome: "created" });
    other.count("operator_events_total", { outcome: "created" });
    expect(await lines(one)).toEqual(['operator_events_total{outcome="created"} 1']);
  });

  it("count webhook requests in flight", async () => {
    const metrics = new OperatorMetrics();
    const reporter = webhookMetrics(metrics);
    reporter.started("/validate");
    reporter.started("/validate");
    reporter.ended("/validate", 200, 0.003);
    expect(await lines(metrics)).toEqual(
      expect.arrayContaining([
        'controller_runtime_webhook_requests_in_flight{webhook="/validate"} 1',
        'controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 1',
        'controller_runtime_webhook_latency_seconds_bucket{le="0.005",webhook="/validate"} 1',
      ]),
    );
  });

  it("include memory and CPU of the process", async () => {
    const metrics = new OperatorMetrics();
    addProcessMetrics(metrics, manualClock());
    const found = await lines(metrics);
    expect(found.map((line) => line.split(" ")[0])).toEqual([
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      "nodejs_heap_size_used_bytes",
      "process_cpu_seconds_total",
    ]);
    for (const line of found) expect(Number(line.split(" ")[1])).toBeGreaterThan(0);
  });
});
