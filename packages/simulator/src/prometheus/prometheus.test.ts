import { once } from "node:events";
import { get } from "node:http";
import { TransportError } from "@memhog/runtime/client";
import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Labels, Sample } from "./exposition.ts";
import { composeFaults, corruptSamples, type PrometheusFaults } from "./faults.ts";
import { serve } from "./http.ts";
import { startPrometheus } from "./prometheus.ts";

const mib = (count: number) => count * 1024 * 1024;
const labelsOf = (pod: string): Labels => ({ namespace: "default", pod, container: "main", id: `/${pod}`, name: pod });

async function world(faults: PrometheusFaults = {}) {
  const environment = manualEnvironment();
  const { clock } = environment;
  const web = labelsOf("web");
  const scrape = (): readonly Sample[] => [
    { name: "memory", labels: web, value: mib(100), timestampMs: clock.now() - 2_000 },
    { name: "limit", labels: web, value: mib(200) },
  ];
  const prometheus = startPrometheus({ environment, targets: [{ labels: { job: "test" }, scrape }], faults });
  await clock.advance(16_000);
  return { clock, prometheus, ...asking((query) => prometheus.request({ method: "GET", path: "/api/v1/query", query })) };
}

type Answer = { readonly status: number; readonly body: unknown };

function asking(request: (query: Record<string, string>) => Promise<Answer>) {
  const ask = async (query: string) => {
    const { status, body } = await request({ query });
    return { ...(JSON.parse(body as string) as { data?: { result: Result[] }; error?: string; warnings?: string[] }), status };
  };
  const values = async (query: string) =>
    (await ask(query)).data?.result.map(({ metric, value }) => [metric.namespace, value[1]]);
  return { ask, values };
}

interface Result {
  readonly metric: Record<string, string>;
  readonly value: readonly [number, string];
}

describe("the simulated Prometheus", () => {
  it("responds to the query of a memory autoscaler", async () => {
    const { ask } = await world();
    const query =
      'max by (namespace, pod, container) (memory{container!="",container!="POD"}) / on (pod, container) group_left () limit';
    expect((await ask(query)).data?.result).toEqual([
      { metric: { container: "main", namespace: "default", pod: "web" }, value: [Date.UTC(2026, 0, 1, 0, 0, 16) / 1_000, "0.5"] },
    ]);
  });

  it("accepts a POST with a form", async () => {
    const { prometheus } = await world();
    const body = new URLSearchParams({ query: "count(memory)" }).toString();
    const answer = await prometheus.request({ method: "POST", path: "/api/v1/query", body });
    expect(JSON.parse(answer.body as string).data.result[0].value[1]).toBe("1");
  });

  it.each([
    ["/-/ready", 200, "Prometheus Server is Ready.\n"],
    ["/-/healthy", 200, "Prometheus Server is Healthy.\n"],
    ["/api/v1/nosuch", 404, "404 page not found\n"],
  ])("responds to %s with %d", async (path, status, body) => {
    const { prometheus } = await world();
    expect(await prometheus.request({ method: "GET", path })).toMatchObject({ status, body });
  });

  it("sets the Date header from its own clock", async () => {
    const { prometheus } = await world();
    const { headers } = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "memory[1m]" } });
    expect(headers.date).toBe("Thu, 01 Jan 2026 00:00:16 GMT");
  });

  it("reports its version", async () => {
    const { prometheus } = await world();
    const { body } = await prometheus.request({ method: "GET", path: "/api/v1/status/buildinfo" });
    expect(JSON.parse(body as string)).toMatchObject({ status: "success", data: { version: "2.42.0", revision: "simulator" } });
  });

  it.each([
    ["quantile(0.9, memory)", "aggregation quantile"],
    ["topk(3, memory)", "aggregation topk"],
    ["histogram_quantile(0.9, memory)", "function histogram_quantile()"],
    ["max_over_time(memory[5m:1m])", "subqueries: memory[5m:1m]"],
    ["memory @ 5", "the @ modifier: memory @ 5"],
    ["memory ^ 2", "operator ^"],
    ["memory atan2 limit", "operator atan2"],
    ['{"memory"}', 'quoted label names: "memory"'],
  ])("rejects unsupported PromQL by name: %s", async (query, what) => {
    const { ask } = await world();
    const { status, error } = await ask(query);
    expect([status, error]).toEqual([422, `not implemented in the simulator: ${what}`]);
  });

  it("responds over HTTP as in memory", async () => {
    const { prometheus } = await world();
    await using endpoint = await serve((request) => prometheus.request(request));
    const body = new URLSearchParams({ query: "memory" });
    const answers = await Promise.all([
      fetch(`${endpoint.url}/api/v1/query?${body}`),
      fetch(`${endpoint.url}/api/v1/query`, { method: "POST", body }),
    ]);
    const direct = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "memory" } });
    for (const answer of answers) expect(await answer.text()).toBe(direct.body);
  });

  it("responds to a malformed target with 400, to an oversized query with 413 and to an internal error with 500, and continues", async () => {
    const { prometheus } = await world();
    await using endpoint = await serve((request) => {
      if (request.path === "/broken") throw new TypeError("internal error");
      return prometheus.request(request);
    });
    const { port, url } = endpoint;
    const [malformed] = await once(get({ host: "127.0.0.1", port, path: "//", agent: false }), "response");
    expect(malformed.resume().statusCode).toBe(400);
    expect((await fetch(`${url}/api/v1/query`, { method: "POST", body: "x".repeat(2 ** 20 + 1) })).status).toBe(413);
    expect((await fetch(`${url}/broken`)).status).toBe(500);
    expect((await fetch(`${url}/-/ready`)).status).toBe(200);
  });
});

describe("a fault of Prometheus", () => {
  it.each([
    { kind: "refuse", outcome: "not-sent" },
    { kind: "reset", outcome: "unknown" },
  ] as const)("$kind: the request fails", async ({ kind, outcome }) => {
    const { ask } = await world({ onRequest: () => ({ kind }) });
    await expect(ask("memory")).rejects.toThrow(TransportError);
    await expect(ask("memory")).rejects.toMatchObject({ outcome });
  });

  it("slow: delays the response, at most until the client disconnects", async () => {
    const { clock, prometheus } = await world({ onRequest: () => ({ kind: "slow", ms: 30_000 }) });
    const patience = new AbortController();
    const question = { method: "GET", path: "/-/ready" } as const;
    const [patient, impatient] = [prometheus.request(question), prometheus.request({ ...question, signal: patience.signal })];
    const gaveUp = expect(impatient).rejects.toThrow("enough");
    patience.abort(new Error("enough"));
    await gaveUp;
    await clock.advance(30_000);
    expect((await patient).status).toBe(200);
  });

  it("500, HTML with 200, and warnings", async () => {
    const faults: PrometheusFaults = {};
    const { prometheus, ask } = await world(faults);
    faults.onRequest = () => ({ kind: "status", status: 500 });
    expect(await ask("memory")).toMatchObject({ status: 500, errorType: "internal" });
    faults.onRequest = () => ({ kind: "html" });
    const page = await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "memory" } });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html"]);
    faults.onRequest = undefined;
    faults.warnings = ["a store did not answer"];
    expect(await ask("memory")).toMatchObject({ status: 200, warnings: ["a store did not answer"] });
    faults.retouch = (data) => ({ ...data, resultType: "vector", result: [] });
    expect((await ask("memory")).data?.result).toEqual([]);
  });

  const rows: readonly {
    readonly name: string;
    readonly faults: PrometheusFaults;
    readonly query?: string;
    readonly gives: unknown;
  }[] = [
    { name: "NaN", faults: { tamper: corruptSamples.value(Number.NaN, { __name__: "memory" }) }, gives: [["default", "NaN"]] },
    {
      name: "infinity",
      faults: { tamper: corruptSamples.value(Number.NEGATIVE_INFINITY, { pod: "web" }) },
      gives: [["default", "-Inf"]],
    },
    { name: "a negative value", faults: { tamper: corruptSamples.value(-1) }, gives: [["default", "-1"]] },
    {
      name: "of another pod",
      faults: { tamper: corruptSamples.value(-1, { pod: "db" }) },
      gives: [["default", String(mib(100))]],
    },
    { name: "missing samples", faults: { tamper: corruptSamples.missing({ __name__: "memory" }) }, gives: [] },
    {
      name: "stale samples",
      faults: { tamper: corruptSamples.stale(60_000) },
      query: "time() - timestamp(memory)",
      gives: [["default", "63"]],
    },
    {
      name: "the same container twice",
      faults: { tamper: corruptSamples.twice((truth) => truth * 9) },
      gives: [
        ["default", String(mib(100))],
        ["default", String(mib(900))],
      ],
    },
    {
      name: "the same series in another namespace",
      faults: { tamper: corruptSamples.foreign("other", (truth) => truth * 9) },
      gives: [
        ["default", String(mib(100))],
        ["other", String(mib(900))],
      ],
    },
    {
      name: "old label names",
      faults: { tamper: corruptSamples.oldLabelNames() },
      query: 'memory{pod_name="web",container_name="main",pod=""}',
      gives: [["default", String(mib(100))]],
    },
    {
      name: "two corruptions at once",
      faults: {
        tamper: composeFaults(
          corruptSamples.value(1),
          corruptSamples.foreign("other", () => 2),
        ),
      },
      gives: [
        ["default", "1"],
        ["other", "2"],
      ],
    },
  ];
  it.each(rows)("corrupt samples: $name", async ({ faults, query = "memory", gives }) => {
    const { values } = await world(faults);
    expect(await values(query)).toEqual(gives);
  });
});
