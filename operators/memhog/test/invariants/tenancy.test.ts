// Access and shared capacity of the whole operator. On the simulator, where every request of the operator can be inspected.
import { type Logger, Pod } from "@memhog/runtime";
import { Namespace } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../../src/api/app-memory.ts";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { appAnnotation, copyOfLabel, monitorAnnotation } from "../../src/api/names.ts";
import { effectsOf } from "./effects.fixture.ts";
import { type HogOptions, hogPod, sizeOf } from "./hogs.fixture.ts";
import { minutes, type World, world } from "./world.fixture.ts";

const never = { probe: true, annotations: { "simulator.memhog.dev/ready.main": "after 1h" } };

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

describe("T1: tenancy", () => {
  it("T1: an AppMonitor does nothing outside its namespace, not even for pods of the same name", async () => {
    await using w = await twoTenants();
    const operator = w.start();
    await w.pass(minutes(2));
    expect((await w.pods("ours")).map(sizeOf)).toEqual(["512Mi/768Mi"]);
    expect((await w.pods("theirs")).map(sizeOf)).toEqual(["256Mi/384Mi"]);
    expect(operator.voice.said.filter(({ path }) => !path.includes("/namespaces/ours/"))).toEqual([]);
  });

  it("T1: an operator of one namespace reads and queries no other namespace", async () => {
    await using w = await twoTenants();
    const operator = w.start({ namespaces: ["ours"] });
    await w.pass(minutes(1));
    expect(effectsOf([operator])).toEqual({ "PATCH pods/resize": 2 });
    const elsewhere = [...operator.voice.asked].filter((path) => !path.includes("/namespaces/ours/"));
    // Nodes are cluster-scoped, and discovery is public.
    expect(elsewhere.filter((path) => !/^\/(api\/v1\/nodes|version|apis?|apis?\/[^/]+|apis\/[^/]+\/[^/]+)$/.test(path))).toEqual(
      [],
    );
    expect(w.asked.length).toBeGreaterThan(3);
    expect(w.asked.filter((query) => !query.includes('"ours"') || query.includes("theirs"))).toEqual([]);
  });
});

describe("S1: an operator that only resizes in place, and leaves namespaces alone", () => {
  it("S1: with --in-place-only, strategies that need more are held with a reason, and nothing else is tried", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await w.pod("bare");
    await w.deployment("web", { replicas: 2 });
    const operator = w.start({ inPlaceOnly: true });
    await w.pass(minutes(10));
    expect(effectsOf([operator])).toEqual({});
    for (const app of ["pod-bare", "deployment-web"])
      expect((await w.memory(app))?.status).toMatchObject({ phase: "Waiting", reason: "InPlaceOnly" });
    await w.monitor({ strategy: "Auto" });
    await w.pass(minutes(2));
    expect((await w.pods()).map(sizeOf)).toEqual(["512Mi/768Mi", "512Mi/768Mi", "512Mi/768Mi"]);
  });

  it("S1: a redeployment that began before --in-place-only is abandoned, not retried", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy" });
    await w.pod("bare", never);
    const first = w.start();
    await w.pass(minutes(1));
    expect((await w.memory("pod-bare"))?.status?.intents).toMatchObject([{ method: "CopyPod" }]);
    await first.stop();
    const second = w.start({ name: "memhog-2", inPlaceOnly: true });
    await w.pass(minutes(20));
    expect(effectsOf([second])).toEqual({});
    const { intents, actions, reason } = (await w.memory("pod-bare"))?.status ?? {};
    expect({ intents, outcome: actions?.at(-1)?.outcome, reason }).toEqual({
      intents: undefined,
      outcome: "Abandoned",
      reason: "InPlaceOnly",
    });
  });

  it("S1: nothing is read into, written or queried for an excluded namespace, and its AppMonitor says so", async () => {
    await using w = await twoTenants();
    await w.monitor({}, { namespace: "theirs" });
    const operator = w.start({ isExcluded: (namespace) => namespace === "theirs" });
    await w.pass(minutes(2));
    expect((await w.pods("ours")).map(sizeOf)).toEqual(["512Mi/768Mi"]);
    expect((await w.pods("theirs")).map(sizeOf)).toEqual(["256Mi/384Mi"]);
    const written = operator.voice.said.filter(({ path }) => !path.includes("/namespaces/ours/"));
    expect(new Set(written.map(({ path }) => path))).toEqual(
      new Set(["/apis/kubedemo.com/v1/namespaces/theirs/appmonitors/johnny-cache/status"]),
    );
    expect(w.asked.filter((query) => query.includes("theirs"))).toEqual([]);
    const { status } = await w.client.get(AppMonitor, { namespace: "theirs", name: "johnny-cache" });
    expect(status?.conditions?.[0]).toMatchObject({ type: "Ready", status: "False", reason: "NamespaceExcluded" });
  });
});

describe("T2: capacity is shared by namespace", () => {
  /** Twelve pods of one tenant above the threshold, whose raises are stored but cannot be executed because the API server fails. */
  async function greedyTenant() {
    const w = await world();
    for (const name of ["greedy", "victim"]) await w.client.create(Namespace, { metadata: { name } });
    await w.pass(1_000);
    for (const namespace of ["greedy", "victim"]) await w.monitor({}, { namespace });
    for (let pod = 1; pod <= 12; pod += 1) await w.pod(`hot-${pod}`, { namespace: "greedy" });
    w.faults.plan = ({ path }) => (path.endsWith("/resize") ? { kind: "answer", status: 503 } : undefined);
    w.start();
    await w.pass(20_000);
    return w;
  }
  const raised = async (w: World, namespace: string) =>
    (await w.pods(namespace)).filter((pod) => sizeOf(pod) === "512Mi/768Mi").length;

  it("T2: ten stuck raises of one namespace do not block another", async () => {
    await using w = await greedyTenant();
    w.faults.plan = ({ path }) =>
      path.includes("/greedy/") && path.endsWith("/resize") ? { kind: "answer", status: 503 } : undefined;
    await w.pod("hungry", { namespace: "victim" });
    await w.pass(30_000);
    expect([await raised(w, "greedy"), await raised(w, "victim")]).toEqual([0, 1]);
  });

  it.each([
    { name: "a paused namespace", freeze: (w: World) => w.monitor({ paused: true }, { namespace: "greedy" }) },
    { name: 'pods annotated with "false"', freeze: annotateAll },
  ])("raises of $name take no slot", async ({ freeze }) => {
    await using w = await greedyTenant();
    await freeze(w);
    await w.pass(1_000);
    w.faults.plan = () => undefined;
    for (let pod = 1; pod <= 12; pod += 1) await w.pod(`hungry-${pod}`, { namespace: "victim" });
    await w.pass(minutes(1));
    expect([await raised(w, "greedy"), await raised(w, "victim")]).toEqual([0, 12]);
  });

  async function annotateAll(w: World): Promise<void> {
    for (const { metadata } of await w.pods("greedy")) {
      const body = { metadata: { annotations: { [monitorAnnotation]: "false" } } };
      await w.client.patch(Pod, { namespace: "greedy", name: metadata.name }, { type: "merge", body });
    }
  }
});

describe("A1, T2: rejected writes", () => {
  it("of a hundred apps are retried with back-off, however often memory is sampled, and other apps are raised", async () => {
    await using w = await world({ nodes: { count: 4 } });
    for (const name of ["refused", "victim"]) await w.client.create(Namespace, { metadata: { name } });
    await w.pass(1_000);
    for (const namespace of ["refused", "victim"]) await w.monitor({}, { namespace });
    for (let pod = 1; pod <= 100; pod += 1) await w.pod(`hot-${pod}`, { namespace: "refused", request: "16Mi" });
    await w.pass(minutes(1)); // all pods run: a later change of a pod would cause an immediate retry
    let refused = 0;
    w.faults.plan = ({ method, path, userAgent }) => {
      const isRefused = method !== "GET" && userAgent.startsWith("memhog-") && path.includes("/namespaces/refused/appmemories");
      if (!isRefused) return undefined;
      refused += 1;
      return { kind: "answer", status: 403 };
    };
    w.start();
    await w.pass(minutes(1));
    await w.pod("hungry", { namespace: "victim" });
    await w.pass(minutes(2));
    // Each is tried immediately, after 60 to 72 s, and after another 120 to 144 s, while 36 samples are taken.
    expect(refused).toBeGreaterThanOrEqual(200);
    expect(refused).toBeLessThanOrEqual(300);
    expect((await w.pods("victim")).map(sizeOf)).toEqual(["512Mi/768Mi"]);
  });
});

describe("T2: forged state", () => {
  it("T2: a forged intent in an AppMemory is checked against the caps and abandoned", async () => {
    await using w = await world();
    await w.monitor({ maxMemory: "1Gi" });
    await w.pod("calm", { memory: "100Mi" });
    w.start();
    await w.pass(minutes(1));
    const memory = await w.memory("pod-calm");
    const [pod] = await w.pods();
    if (memory === undefined || pod === undefined) throw new Error("expected a pod and its AppMemory");
    const { name, uid } = pod.metadata;
    const to = { container: "main", from: { limit: "384Mi", request: "256Mi" }, to: { limit: "10Gi", request: "256Mi" } };
    const at = new Date(w.clock.now()).toISOString();
    const intent = {
      id: "forged",
      method: "InPlace",
      pod: { name, uid },
      changes: [to],
      reason: "OutOfMemory",
      at,
      attempt: 1,
    } as const;
    await w.client.update(AppMemory, { ...memory, status: { ...memory.status, intents: [intent] } }, { subresource: "status" });
    await w.pass(minutes(1));
    expect((await w.pods()).map(sizeOf)).toEqual(["256Mi/384Mi"]);
    expect((await w.memory("pod-calm"))?.status).toMatchObject({ actions: [{ outcome: "Abandoned" }] });
  });
});

describe("T2: only copies that memhog created are accepted", () => {
  /** A bare pod above the threshold, and a pod of another tenant that claims to be its copy. */
  async function claimed(name: string, options: HogOptions = {}) {
    const w = await world();
    await w.monitor({ strategy: "Redeploy" });
    const victim = await w.pod("hungry");
    const claims = {
      labels: { [copyOfLabel]: victim.metadata.uid },
      annotations: { [appAnnotation]: "hungry", ...options.annotations },
    };
    const attacker = hogPod(name, { memory: "10Mi", ...options, ...claims });
    const containers = attacker.spec.containers.map((container) => ({ ...container, image: "example.com/attacker:1" }));
    await w.client.create(Pod, { ...attacker, spec: { ...attacker.spec, containers } });
    w.start();
    return w;
  }

  it.each([
    { name: "a pod that is never Ready does not block the raise", pod: "claims", options: never },
    { name: "a pod that is Ready is not taken for the replacement", pod: "claims", options: {} },
    {
      name: "a pod that is Ready and has the name of the copy is not taken for the replacement",
      pod: "hungry-autoscaled",
      options: {},
    },
  ])("$name", async ({ pod, options }) => {
    await using w = await claimed(pod, options);
    await w.pass(minutes(12));
    const images = (await w.pods()).map(({ metadata, spec }) => [metadata.name === pod, spec.containers[0]?.image]);
    // The attacker's pod is left alone; the original was replaced by a bigger pod with its own image.
    expect(images.toSorted()).toEqual([
      [false, "example.com/hog:1"],
      [true, "example.com/attacker:1"],
    ]);
    const [bigger] = (await w.pods()).filter(({ metadata }) => metadata.name !== pod);
    expect(bigger && sizeOf(bigger)).toBe("512Mi/768Mi");
  });
});

it("T2: a pod that claims to belong to the app of another pod does not join it, and cannot make its AppMonitor ambiguous", async () => {
  await using w = await world();
  const selecting = (app: string) => ({ selector: { matchLabels: { app } } });
  await w.monitor(selecting("hungry"), { namespace: "default", name: "victim" });
  await w.monitor(selecting("attacker"), { namespace: "default", name: "attacker" });
  await w.pod("attacker", { memory: "10Mi", annotations: { [appAnnotation]: "hungry" } });
  await w.pod("hungry");
  w.start();
  await w.pass(minutes(1));
  expect((await w.pods()).map((pod) => [pod.metadata.name, sizeOf(pod)])).toEqual([
    ["attacker", "256Mi/384Mi"],
    ["hungry", "512Mi/768Mi"],
  ]);
  expect((await w.memory("pod-hungry"))?.metadata.ownerReferences).toHaveLength(1);
  expect((await w.memory("pod-attacker"))?.status).toMatchObject({ reason: "BelowThreshold" });
});

describe("S4: secrets of pods and Prometheus responses", () => {
  const canary = "canary-3f9a51c7";

  it("do not appear in logs, Events, status or metrics", async () => {
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
    // A proxy in front of Prometheus that returns the credentials it was sent.
    w.cluster.prometheus.faults.onRequest = () => ({ kind: "status", status: 500, body: `Authorization: Bearer ${canary}` });
    await w.pass(minutes(1));
    w.cluster.prometheus.faults.onRequest = () => ({ kind: "status", status: 200, body: `{"token": "${canary}"}` });
    await w.pass(minutes(2));
    const { body: metrics } = await program.metrics.text();
    expect(voice.said.filter(({ path }) => path.endsWith("/resize"))).toHaveLength(2);
    expect(lines.join("\n")).toContain("memory metrics are unavailable");
    for (const text of [...voice.said.map(({ body }) => body), ...lines, metrics]) expect(text).not.toContain(canary);
  });
});

/** Collects log entries of every level as JSON. */
function listening(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const errorsToo = (_key: string, value: unknown) => (value instanceof Error ? { ...value, text: `${value.stack}` } : value);
  const hear = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields, errorsToo)}`);
  const log: Logger = { debug: hear, info: hear, warn: hear, error: hear, child: () => log };
  return { log, lines };
}
