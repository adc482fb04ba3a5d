// Who may see and touch what, for the whole operator. On the simulator: there every request of the operator can be read.
import { type Logger, Namespace } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { effectsOf } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { minutes, world } from "./world.fixture.ts";

/** Two namespaces with the same pod in each; only the first has an AppMonitor. */
async function twoTenants() {
  const w = await world();
  for (const name of ["ours", "theirs"]) await w.client.create(Namespace, { metadata: { name } });
  await w.pass(1_000);
  await w.monitor({}, { namespace: "ours" });
  for (const namespace of ["ours", "theirs"]) await w.pod("hungry", { namespace });
  const asked: string[] = [];
  w.cluster.prometheus.faults.onRequest = ({ body = "" }) => void asked.push(new URLSearchParams(body).get("query") ?? "");
  return { ...w, asked };
}

describe("T1: tenants", () => {
  it("an AppMonitor does nothing outside its namespace, for pods of the same name either", async () => {
    await using w = await twoTenants();
    const operator = w.start();
    await w.pass(minutes(2));
    expect((await w.pods("ours")).map(sizeOf)).toEqual(["512Mi/768Mi"]);
    expect((await w.pods("theirs")).map(sizeOf)).toEqual(["256Mi/384Mi"]);
    expect(operator.voice.said.filter(({ path }) => !path.includes("/namespaces/ours/"))).toEqual([]);
  });

  it("an operator of one namespace reads and asks Prometheus about no other", async () => {
    await using w = await twoTenants();
    const operator = w.start({ namespaces: ["ours"] });
    await w.pass(minutes(1));
    expect(effectsOf([operator])).toEqual({ "PATCH pods/resize": 2 });
    const elsewhere = [...operator.voice.asked].filter((path) => !path.includes("/namespaces/ours/"));
    // Nodes belong to nobody, and what the server can do is no secret.
    expect(elsewhere.filter((path) => !/^\/(api\/v1\/nodes|version|apis?|apis?\/[^/]+|apis\/[^/]+\/[^/]+)$/.test(path))).toEqual(
      [],
    );
    expect(w.asked.length).toBeGreaterThan(3);
    expect(w.asked.filter((query) => !query.includes('"ours"') || query.includes("theirs"))).toEqual([]);
  });
});

describe("S4: secrets", () => {
  const canary = "canary-3f9a51c7";

  it("that are in a pod, or in what Prometheus says, are in nothing that we say", async () => {
    await using w = await world();
    const { log, lines } = listening();
    await w.monitor();
    await w.pod("hungry", {
      env: [{ name: "PASSWORD", value: canary }],
      annotations: { "example.com/token": `Bearer ${canary}` },
      labels: { key: canary },
    });
    const { voice, program } = w.start({ log });
    await w.pass(minutes(1));
    // Now a proxy in front of Prometheus that tells everyone what it was sent.
    w.cluster.prometheus.faults.onRequest = () => ({ kind: "status", status: 500, body: `Authorization: Bearer ${canary}` });
    await w.pass(minutes(1));
    w.cluster.prometheus.faults.onRequest = () => ({ kind: "status", status: 200, body: `{"token": "${canary}"}` });
    await w.pass(minutes(2));
    const { body: metrics } = await program.metrics.text();
    expect(voice.said.filter(({ path }) => path.endsWith("/resize"))).toHaveLength(2);
    expect(lines.join("\n")).toContain("no memory metrics");
    for (const text of [...voice.said.map(({ body }) => body), ...lines, metrics]) expect(text).not.toContain(canary);
  });
});

/** Hears everything, at any level, as JSON. */
function listening(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const errorsToo = (_key: string, value: unknown) => (value instanceof Error ? { ...value, text: `${value.stack}` } : value);
  const hear = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields, errorsToo)}`);
  const log: Logger = { debug: hear, info: hear, warn: hear, error: hear, child: () => log };
  return { log, lines };
}
