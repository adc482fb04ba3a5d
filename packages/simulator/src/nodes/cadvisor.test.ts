import { describe, expect, it } from "vitest";
import { parseExposition, type Sample } from "../prometheus/exposition.ts";
import { startPrometheus } from "../prometheus/prometheus.ts";
import { cadvisorTarget, serveCadvisor } from "./cadvisor.ts";
import { hollowCluster, isReady, memory, mib, statusOf } from "./hollow-cluster.fixture.ts";

const second = 1_000;
const named = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}) =>
  samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
const workingSet = "container_memory_working_set_bytes";

describe("the metrics of a hollow node", () => {
  it("have the container labels of cAdvisor", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("web", { container: memory("64Mi", "32Mi") });
    const pod = await cluster.until("web", isReady);
    const id = statusOf(pod)?.containerID?.replace("containerd://", "") ?? "";
    const [sample] = named(cluster.node.samples(), workingSet, { container: "main" });
    expect(sample?.labels).toEqual({
      container: "main",
      id: `/kubepods/burstable/pod${pod.metadata.uid}/${id}`,
      image: "example.com/main:1",
      name: id,
      namespace: "default",
      pod: "web",
    });
  });

  it("have series without a container label for the pod and its sandbox", async () => {
    await using cluster = await hollowCluster({ memoryOf: () => "10Mi" });
    await cluster.create("web", { container: memory("64Mi", "32Mi") });
    await cluster.until("web", isReady);
    await cluster.clock.advance(20 * second);
    const samples = named(cluster.node.samples(), workingSet, { pod: "web" });
    expect(samples.map(({ labels, value }) => [labels.container, labels.image, value])).toEqual([
      ["", "", mib(10) + 360_448],
      ["", "registry.k8s.io/pause:3.10", 360_448],
      ["main", "example.com/main:1", mib(10)],
    ]);
  });

  it("are some seconds old and carry their timestamps", async () => {
    await using cluster = await hollowCluster({ memoryOf: () => "leak 1Mi/s" });
    await cluster.create("web", { container: memory("1Gi") });
    await cluster.until("web", isReady);
    const ages = [];
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await cluster.clock.advance(second);
      const [sample] = named(cluster.node.samples(), workingSet, { container: "main" });
      const age = cluster.clock.now() - (sample?.timestampMs ?? 0);
      const truth = cluster.node.usageOf({ namespace: "default", name: "web" }, "main") ?? 0;
      expect(Math.abs(truth - mib(age / 1_000) - (sample?.value ?? 0))).toBeLessThan(mib(0.01));
      ages.push(age);
    }
    expect(Math.max(...ages)).toBeGreaterThan(8 * second);
    expect(Math.max(...ages)).toBeLessThan(15 * second);
  });

  it.each([1, -1])("have wall-clock timestamps, also after a step of %i h", async (hours) => {
    await using cluster = await hollowCluster();
    await cluster.create("web", { container: memory("64Mi") });
    await cluster.until("web", isReady);
    const shown = () => named(cluster.node.samples(), workingSet, { container: "main" })[0]?.timestampMs ?? 0;
    const before = shown();
    cluster.clock.stepWallClock(hours * 3_600 * second);
    expect(shown()).toBe(before); // measured before the step
    await cluster.clock.advance(30 * second);
    const age = cluster.clock.now() - shown();
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(15 * second);
  });

  it("are found by a Prometheus whose clock steps with the others", async () => {
    await using cluster = await hollowCluster({ memoryOf: () => "10Mi" });
    await cluster.create("web", { container: memory("64Mi") });
    await cluster.until("web", isReady);
    const { environment } = cluster.simulator;
    using prometheus = startPrometheus({ environment, targets: [cadvisorTarget(cluster.node)] });
    const found = async () => {
      const query = `${workingSet}{container="main"}`;
      const { body } = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query } });
      return JSON.parse(String(body)).data.result.map(({ value }: { value: [number, string] }) => Number(value[1]));
    };
    await cluster.clock.advance(30 * second);
    expect(await found()).toEqual([mib(10)]);
    cluster.clock.stepWallClock(3_600 * second);
    expect(await found()).toEqual([]); // the stored samples are now an hour old
    await cluster.clock.advance(45 * second);
    expect(await found()).toEqual([mib(10)]);
  });

  it("have limits and start times without timestamps, and a new limit immediately", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("web", { container: memory("64Mi", "32Mi") });
    await cluster.until("web", isReady);
    const limit = () => named(cluster.node.samples(), "container_spec_memory_limit_bytes", { container: "main" })[0];
    expect(limit()).toMatchObject({ value: mib(64) });
    expect(limit()?.timestampMs).toBeUndefined();
    await cluster.resize("web", { limits: { memory: "96Mi" } });
    await cluster.clock.advance(second);
    expect(limit()).toMatchObject({ value: mib(96) });
    const [start] = named(cluster.node.samples(), "container_start_time_seconds", { container: "main" });
    expect(start?.value).toBe(Math.floor(Date.UTC(2026, 0, 1) / 1_000));
  });

  it.each([
    { deadSeriesMs: 0, shown: [false, false] },
    { deadSeriesMs: 60_000, shown: [true, false] },
  ])("include a terminated container for $deadSeriesMs ms", async ({ deadSeriesMs, shown }) => {
    await using cluster = await hollowCluster({ deadSeriesMs });
    await cluster.create("job", { container: { command: ["sleep", "5"] }, spec: { restartPolicy: "Never" } });
    await cluster.until("job", isReady);
    const isShown = () => named(cluster.node.samples(), workingSet, { container: "main" }).length > 0;
    expect(isShown()).toBe(true);
    await cluster.until("job", ({ status }) => status?.phase === "Succeeded");
    const after = isShown();
    await cluster.clock.advance(90 * second);
    expect([after, isShown()]).toEqual(shown);
  });

  it("are the same as text, over HTTP and through the proxy of the API server", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("web");
    await cluster.until("web", isReady);
    const text = cluster.node.metricsText();
    expect(parseExposition(text).length).toBe(cluster.node.samples().length);
    expect(text).toContain("# TYPE container_memory_working_set_bytes gauge\n");
    await using endpoint = await serveCadvisor(cluster.nodes);
    const answer = await fetch(`${endpoint.url}/nodes/node-1/metrics/cadvisor`);
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["text/plain; version=0.0.4; charset=utf-8", text]);
    expect(await cluster.client.request({ path: "/api/v1/nodes/node-1/proxy/metrics/cadvisor" })).toBe(text);
    await cluster.node.losePower();
    await expect(fetch(`${endpoint.url}/nodes/node-1/metrics/cadvisor`)).rejects.toThrow();
  });
});
