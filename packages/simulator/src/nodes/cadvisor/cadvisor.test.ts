import { describe, expect, it } from "vitest";
import { parseExposition, type Sample } from "../../prometheus/exposition.ts";
import { startPrometheus } from "../../prometheus/prometheus.ts";
import { hollowWorld, isReady, memory, mib, statusOf } from "../hollow-world.fixture.ts";
import { cadvisorTarget, serveCadvisor } from "./serve.ts";

const second = 1_000;
const named = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}) =>
  samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
const workingSet = "container_memory_working_set_bytes";

describe("the metrics of a hollow node", () => {
  it("show each container with the labels that cAdvisor gives it", async () => {
    await using world = await hollowWorld();
    await world.create("web", { container: memory("64Mi", "32Mi") });
    const pod = await world.until("web", isReady);
    const id = statusOf(pod)?.containerID?.replace("containerd://", "") ?? "";
    const [sample] = named(world.node.samples(), workingSet, { container: "main" });
    expect(sample?.labels).toEqual({
      container: "main",
      id: `/kubepods/burstable/pod${pod.metadata.uid}/${id}`,
      image: "example.com/main:1",
      name: id,
      namespace: "default",
      pod: "web",
    });
  });

  it("show the pod and its sandbox without a container, as they are counted twice by whoever forgets that", async () => {
    await using world = await hollowWorld({ memoryOf: () => "10Mi" });
    await world.create("web", { container: memory("64Mi", "32Mi") });
    await world.until("web", isReady);
    await world.clock.advance(20 * second);
    const samples = named(world.node.samples(), workingSet, { pod: "web" });
    expect(samples.map(({ labels, value }) => [labels.container, labels.image, value])).toEqual([
      ["", "", mib(10) + 360_448],
      ["", "registry.k8s.io/pause:3.10", 360_448],
      ["main", "example.com/main:1", mib(10)],
    ]);
  });

  it("are some seconds old, and say how old", async () => {
    await using world = await hollowWorld({ memoryOf: () => "leak 1Mi/s" });
    await world.create("web", { container: memory("1Gi") });
    await world.until("web", isReady);
    const ages = [];
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await world.clock.advance(second);
      const [sample] = named(world.node.samples(), workingSet, { container: "main" });
      const age = world.clock.now() - (sample?.timestampMs ?? 0);
      const truth = world.node.usageOf({ namespace: "default", name: "web" }, "main") ?? 0;
      expect(Math.abs(truth - mib(age / 1_000) - (sample?.value ?? 0))).toBeLessThan(mib(0.01));
      ages.push(age);
    }
    expect(Math.max(...ages)).toBeGreaterThan(8 * second);
    expect(Math.max(...ages)).toBeLessThan(15 * second);
  });

  it.each([1, -1])("have the time of the wall clock, also after a step of %i h", async (hours) => {
    await using world = await hollowWorld();
    await world.create("web", { container: memory("64Mi") });
    await world.until("web", isReady);
    const shown = () => named(world.node.samples(), workingSet, { container: "main" })[0]?.timestampMs ?? 0;
    const before = shown();
    world.clock.stepWallClock(hours * 3_600 * second);
    expect(shown()).toBe(before); // was measured before the step
    await world.clock.advance(30 * second);
    const age = world.clock.now() - shown();
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(15 * second);
  });

  it("are found by a Prometheus whose clock steps ahead with all the others", async () => {
    await using world = await hollowWorld({ memoryOf: () => "10Mi" });
    await world.create("web", { container: memory("64Mi") });
    await world.until("web", isReady);
    const { environment } = world.simulator;
    using prometheus = startPrometheus({ environment, targets: [cadvisorTarget(world.node)] });
    const found = async () => {
      const query = `${workingSet}{container="main"}`;
      const { body } = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query } });
      return JSON.parse(String(body)).data.result.map(({ value }: { value: [number, string] }) => Number(value[1]));
    };
    await world.clock.advance(30 * second);
    expect(await found()).toEqual([mib(10)]);
    world.clock.stepWallClock(3_600 * second);
    expect(await found()).toEqual([]); // what it has is an hour old now
    await world.clock.advance(45 * second);
    expect(await found()).toEqual([mib(10)]);
  });

  it("show limits and starts without a time, and a new limit at once", async () => {
    await using world = await hollowWorld();
    await world.create("web", { container: memory("64Mi", "32Mi") });
    await world.until("web", isReady);
    const limit = () => named(world.node.samples(), "container_spec_memory_limit_bytes", { container: "main" })[0];
    expect(limit()).toMatchObject({ value: mib(64) });
    expect(limit()?.timestampMs).toBeUndefined();
    await world.resize("web", { limits: { memory: "96Mi" } });
    await world.clock.advance(second);
    expect(limit()).toMatchObject({ value: mib(96) });
    const [start] = named(world.node.samples(), "container_start_time_seconds", { container: "main" });
    expect(start?.value).toBe(Math.floor(Date.UTC(2026, 0, 1) / 1_000));
  });

  it.each([
    { deadSeriesMs: 0, shown: [false, false] },
    { deadSeriesMs: 60_000, shown: [true, false] },
  ])("show a dead container for $deadSeriesMs ms", async ({ deadSeriesMs, shown }) => {
    await using world = await hollowWorld({ deadSeriesMs });
    await world.create("job", { container: { command: ["sleep", "5"] }, spec: { restartPolicy: "Never" } });
    await world.until("job", isReady);
    const isShown = () => named(world.node.samples(), workingSet, { container: "main" }).length > 0;
    expect(isShown()).toBe(true);
    await world.until("job", ({ status }) => status?.phase === "Succeeded");
    const after = isShown();
    await world.clock.advance(90 * second);
    expect([after, isShown()]).toEqual(shown);
  });

  it("are the same as text, over HTTP and behind the proxy of the API server", async () => {
    await using world = await hollowWorld();
    await world.create("web");
    await world.until("web", isReady);
    const text = world.node.metricsText();
    expect(parseExposition(text).length).toBe(world.node.samples().length);
    expect(text).toContain("# TYPE container_memory_working_set_bytes gauge\n");
    await using endpoint = await serveCadvisor(world.nodes);
    const answer = await fetch(`${endpoint.url}/nodes/node-1/metrics/cadvisor`);
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["text/plain; version=0.0.4; charset=utf-8", text]);
    expect(await world.client.request({ path: "/api/v1/nodes/node-1/proxy/metrics/cadvisor" })).toBe(text);
    await world.node.losePower();
    await expect(fetch(`${endpoint.url}/nodes/node-1/metrics/cadvisor`)).rejects.toThrow();
  });
});
