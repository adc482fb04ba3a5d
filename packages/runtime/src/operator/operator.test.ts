import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { connect } from "node:tls";
import { Counter } from "prom-client";
import { describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { controller } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { Lease } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { rulesFor } from "../schema/rbac.ts";
import { temporaryFolder } from "../testing/loopback.ts";
import { allowed } from "../webhook/admission.ts";
import { issueServing, makeAuthority } from "../webhook/certificates.ts";
import { validate } from "../webhook/webhooks.ts";
import { operator } from "./operator.ts";
import type { OperatorOptions, Runnable, RunnableContext } from "./options.ts";
import { BlockedController, lease, world } from "./testing/world.ts";

describe("operator startup", () => {
  it("reports not ready, with a reason, until its caches are synced", async () => {
    const { api, clock, begin, until, ready, made, process, run } = world({ controllers: [new BlockedController().controller] });
    let reachable = false;
    api.refuse = () => (reachable ? undefined : new Error("connection refused"));
    begin();
    await until(() => made.ports.health !== undefined);
    await clock.advance(1_000);
    expect(await ready()).toBe("[-]start: starting\n[-]caches: configmaps not synced\n");
    reachable = true;
    await clock.advance(60_000);
    expect(await ready()).toBe("ok");
    process.sigterm();
    await clock.advance(30_000);
    await until(() => run.state === "ended");
  });

  it("serves /debug/explain only to this machine, for a loopback host name", async () => {
    const { begin, until, made } = world({
      controllers: [new BlockedController().controller],
      metricsBindAddress: "127.0.0.1:0",
    });
    begin();
    await until(() => made.ports.metrics !== undefined);
    const statusFor = async (host: string) => {
      const url = { host: "127.0.0.1", port: made.ports.metrics, path: "/debug/explain", headers: { host }, agent: false };
      const [response] = await once(get(url), "response");
      return response.resume().statusCode;
    };
    expect(await statusFor("localhost:8080")).toBe(200);
    expect(await statusFor("rebound.example.org")).toBe(403);
  });

  it("resolves `ready` when its caches are synced", async () => {
    const { api, clock, begin, until, made } = world({ controllers: [new BlockedController().controller] });
    let reachable = false;
    let ready = false;
    void made.ready.then(() => (ready = true));
    api.refuse = () => (reachable ? undefined : new Error("connection refused"));
    begin();
    await until(() => api.calls.length > 0);
    await clock.advance(1_000);
    expect(ready).toBe(false);
    reachable = true;
    await clock.advance(60_000);
    await made.ready;
  });

  it("rejects `ready` if it is stopped earlier", async () => {
    const said: string[] = [];
    const log: Logger = { ...silentLogger, info: (_fields, message) => said.push(message), child: () => log };
    const { api, clock, begin, until, made, process, run } = world({ controllers: [new BlockedController().controller], log });
    api.refuse = () => new Error("connection refused");
    begin();
    await until(() => api.calls.length > 0);
    process.sigterm();
    await clock.advance(0);
    await expect(made.ready).rejects.toThrow("stop requested");
    await clock.advance(30_000);
    await until(() => run.state === "ended");
    expect(said.at(-1)).toBe("stopped");
  });

  it("serves custom metrics with the built-in ones", async () => {
    const raises = new Counter({ name: "raises_total", help: "Raises", labelNames: ["why"], registers: [] });
    const { made } = world({ metrics: [raises] });
    raises.inc({ why: "test" });
    expect((await made.metrics.text()).body).toContain('raises_total{why="test"} 1');
  });

  it("uses the configured instance name", async () => {
    const { clock, begin, until, held } = world({ instance: "replica-7" });
    begin();
    await until(() => held() !== undefined);
    await clock.advance(0);
    expect(held()?.holderIdentity).toMatch(/^replica-7_/);
  });

  it("does not lead before its caches are synced, nor reconcile before it leads", async () => {
    const held = new BlockedController();
    const { api, objects, clock, begin, until, held: claim } = world({ controllers: [held.controller] });
    let reachable = false;
    api.refuse = () => (reachable ? undefined : new Error("connection refused"));
    await objects.client.create(Lease, { metadata: lease, spec: { holderIdentity: "another", leaseDurationSeconds: 15 } });
    begin();
    await until(() => api.calls.length > 0);
    await clock.advance(60_000);
    expect(objects.calls.filter(({ kind }) => kind === "leases")).toHaveLength(1);
    reachable = true;
    await clock.advance(20_000);
    expect(claim()?.holderIdentity).toBe("another");
    expect(held.begun).toBe(0);
    await clock.advance(40_000);
    expect(claim()?.holderIdentity).toContain("_");
    expect(held.begun).toBe(1);
  });

  it("shuts down gracefully while it waits for the lease", async () => {
    const { objects, clock, begin, until, process, run, made } = world();
    await objects.client.create(Lease, { metadata: lease, spec: { holderIdentity: "another", leaseDurationSeconds: 600 } });
    begin();
    await until(() => made.ports.health !== undefined && objects.calls.length > 1);
    process.sigterm();
    await clock.advance(5_000);
    await until(() => run.state === "ended");
    expect(process.exits).toEqual([]);
  });

  it("serves webhooks with certificates from a folder", async () => {
    await using folder = await temporaryFolder();
    const environment = systemEnvironment();
    const authority = await makeAuthority({ name: "somebody", lifetimeMs: 3_600_000 }, environment);
    const { certificate, key } = await issueServing(authority, { names: ["localhost"], lifetimeMs: 3_600_000 }, environment);
    await writeFile(join(folder.path, "tls.crt"), certificate);
    await writeFile(join(folder.path, "tls.key"), key);
    const told: string[] = [];
    const log = { ...silentLogger, info: (fields: object, message: string) => told.push(`${message} ${JSON.stringify(fields)}`) };
    const webhooks = [validate(ConfigMap, () => allowed())];
    const webhookServer = { host: "127.0.0.1", port: 0, certificateFolder: folder.path };
    const { begin, until, process, run, clock } = world({ webhooks, webhookServer, log, leaderElection: false });
    begin();
    await until(() => told.some((line) => line.startsWith("caches synced")));
    const port = Number(/"port":(\d+)/.exec(told.find((line) => line.startsWith("serving webhooks")) ?? "")?.[1]);
    const socket = connect({ host: "127.0.0.1", port, ca: authority.certificate, servername: "localhost" });
    await once(socket, "secureConnect");
    socket.destroy();
    process.sigterm();
    await clock.advance(1_000);
    await until(() => run.state === "ended");
  });

  it.each([
    { name: "a name that is not valid for a Lease", options: { name: "Gordon Operator" } },
    {
      name: "two controllers with one name",
      options: { name: "x", controllers: [new BlockedController().controller, new BlockedController().controller] },
    },
  ])("refuses $name", ({ options }) => {
    expect(() => operator({ controllers: [], ...options })).toThrow(expect.objectContaining({ code: "OPERATOR_OPTIONS" }));
  });
});

describe("operator shutdown", () => {
  async function atWork(held: BlockedController, options: Partial<OperatorOptions> = {}) {
    const all = world({ controllers: [held.controller], ...options });
    all.begin();
    await all.until(() => all.made.ports.health !== undefined);
    for (let seconds = 0; held.begun === 0 && seconds < 60; seconds += 1) await all.clock.advance(1_000);
    expect(held.begun).toBe(1);
    return all;
  }

  it("finishes running reconciles before it releases the lease", async () => {
    const held = new BlockedController();
    const { clock, process, until, run, held: claim, ready } = await atWork(held);
    process.sigterm();
    await clock.advance(10_000);
    expect(claim()?.holderIdentity).not.toBe(""); // still renewed, still ours
    expect(await ready()).toContain("[-]stop: stopping");
    expect(held.aborted).toBeUndefined();
    held.release();
    await clock.advance(3_000);
    await until(() => run.state === "ended");
    expect(held.ended).toBe(1);
    expect(claim()?.holderIdentity).toBe("");
    expect(process.exits).toEqual([]);
  });

  it("aborts reconciles after the drain timeout, and then releases the lease", async () => {
    const held = new BlockedController();
    const { clock, process, until, run, held: claim } = await atWork(held);
    process.sigterm();
    await clock.advance(20_000);
    await clock.advance(3_000);
    await until(() => run.state === "ended");
    expect(held.aborted).toBeDefined();
    expect(claim()?.holderIdentity).toBe("");
  });

  it("does not wait for a reconcile that ignores its signal; its API calls fail", async () => {
    const held = new BlockedController({ ignoresAbort: true });
    const { clock, process, until, run, held: claim } = await atWork(held);
    process.sigterm();
    await clock.advance(19_999);
    expect(held.aborted).toBeUndefined();
    await clock.advance(3_000);
    await until(() => run.state === "ended");
    expect(held.ended).toBe(0);
    expect(claim()?.holderIdentity).toBe("");
    held.release();
  });

  it("L1: exits without releasing the lease if something does not stop", async () => {
    const held = new BlockedController();
    const { api, clock, process, held: claim } = await atWork(held);
    // A watch that ignores its signal.
    api.cutWatches();
    api.watch = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) as never;
    held.release();
    await clock.advance(5_000);
    process.sigterm();
    await clock.advance(20_999);
    expect(process.exits).toEqual([]);
    await clock.advance(1);
    expect(process.exits).toEqual([1]);
    expect(claim()?.holderIdentity).not.toBe("");
  });

  it("exits immediately at the second signal", async () => {
    const held = new BlockedController();
    const { process } = await atWork(held);
    process.sigterm();
    expect(process.exits).toEqual([]);
    process.sigterm();
    expect(process.exits).toEqual([1]);
    held.release();
  });

  it("L2: aborts running reconciles and exits within a second of losing the lease", async () => {
    const held = new BlockedController();
    const { clock, process, objects } = await atWork(held);
    objects.before = () => {
      throw new Error("connection refused");
    };
    for (let ms = 0; held.aborted === undefined && ms < 12_000; ms += 10) await clock.advance(10);
    expect(held.aborted).toMatchObject({ code: "LEADERSHIP_LOST" });
    await clock.advance(1_000);
    expect(process.exits).toEqual([1]);
  });

  it("L2: exits within a second even if reconciles ignore their signals, and even during the drain", async () => {
    const held = new BlockedController({ ignoresAbort: true });
    const { clock, process, objects } = await atWork(held, { drainMs: 60_000 });
    process.sigterm();
    objects.before = () => {
      throw new Error("connection refused");
    };
    for (let ms = 0; held.aborted === undefined && ms < 12_000; ms += 10) await clock.advance(10);
    expect(held.aborted).toMatchObject({ code: "LEADERSHIP_LOST" });
    await clock.advance(1_000);
    expect(process.exits).toEqual([1]);
    held.release();
  });
});

describe("runnables", () => {
  /** A runnable that records when it starts and stops. */
  function noting(name: string, log: string[], more: Partial<Runnable> = {}): Runnable {
    const start = async ({ signal, cached }: RunnableContext) => {
      log.push(`${name} started, sees ${cached.list(ConfigMap).length}`);
      if (!signal.aborted) await once(signal, "abort");
      log.push(`${name} stopped`);
    };
    return { name, start, ...more };
  }

  it("start when the caches are synced, or when elected if they need leader election, and stop with the controllers", async () => {
    const log: string[] = [];
    const runnables = [noting("dashboard", log), noting("exporter", log, { needsLeaderElection: false })];
    const { api, clock, objects, begin, until, process, run } = world({
      controllers: [new BlockedController().controller],
      runnables,
    });
    let reachable = false;
    api.refuse = () => (reachable ? undefined : new Error("connection refused"));
    await objects.client.create(Lease, { metadata: lease, spec: { holderIdentity: "another", leaseDurationSeconds: 15 } });
    begin();
    await until(() => api.calls.length > 0);
    await clock.advance(60_000);
    expect(log).toEqual([]);
    reachable = true;
    while (log.length === 0) await clock.advance(1_000);
    expect(log).toEqual(["exporter started, sees 1"]);
    await clock.advance(60_000);
    expect(log).toEqual(["exporter started, sees 1", "dashboard started, sees 1"]);
    process.sigterm();
    await clock.advance(30_000);
    await until(() => run.state === "ended");
    expect(log.slice(2).toSorted()).toEqual(["dashboard stopped", "exporter stopped"]);
  });

  it("may return early; one that throws shuts the operator down gracefully, with its error", async () => {
    const failure = new Error("port in use");
    const gate = Promise.withResolvers<void>();
    const runnables: readonly Runnable[] = [
      { name: "short", start: async () => {} },
      { name: "failing", start: () => gate.promise },
    ];
    const { clock, begin, until, held, run } = world({ controllers: [new BlockedController().controller], runnables });
    begin();
    await until(() => held()?.holderIdentity !== undefined);
    await clock.advance(5_000);
    expect(run.state).toBe("running");
    gate.reject(failure);
    await clock.advance(30_000);
    await until(() => run.state !== "running");
    expect(run.state).toBe(failure);
    expect(held()?.holderIdentity).toBe("");
  });
});

describe("custom checks", () => {
  it("affect /readyz in addition to the built-in ones", async () => {
    let license: true | string = "license expired";
    const { clock, begin, until, ready, made } = world({ controllers: [], readyChecks: { license: () => license } });
    begin();
    await until(() => made.ports.health !== undefined);
    await clock.advance(5_000);
    expect(await ready()).toContain("[-]license: license expired\n");
    license = true;
    expect(await ready()).toBe("ok");
  });
});

describe("the permissions of an operator", () => {
  it("follow from its controllers, leader election and webhooks", () => {
    const { made } = world({
      controllers: [controller(ConfigMap, {}, async () => done())],
      webhooks: [validate(ConfigMap, () => allowed())],
    });
    const rules = rulesFor(made.grants);
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ resources: ["leases"] }),
        expect.objectContaining({
          resources: ["validatingwebhookconfigurations"],
          resourceNames: ["gordon-operator"],
          verbs: ["get", "update"],
        }),
        expect.objectContaining({ resources: ["secrets"], resourceNames: ["gordon-operator-webhook-certificates"] }),
      ]),
    );
  });

  it("S1: do not include Secrets if the certificates are issued elsewhere", () => {
    const { made } = world({ webhooks: [validate(ConfigMap, () => allowed())], webhookServer: { certificateFolder: "/certs" } });
    expect(JSON.stringify(rulesFor(made.grants))).not.toContain("secrets");
  });
});
