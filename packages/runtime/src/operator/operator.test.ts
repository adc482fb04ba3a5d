import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../concurrency/logger.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { controller } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { Lease } from "../objects/kinds/coordination.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { rulesFor } from "../schema/rbac.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { allowed } from "../webhook/admission.ts";
import { issueServing, makeAuthority } from "../webhook/certificates.ts";
import { validate } from "../webhook/webhooks.ts";
import { operator } from "./operator.ts";
import type { OperatorOptions } from "./options.ts";
import { Counter } from "./prometheus.ts";
import { Held, lease, world } from "./testing/world.ts";

describe("an operator that starts", () => {
  it("is not ready, and says why, until its caches are synced", async () => {
    const { api, clock, begin, until, ready, made, process, run } = world({ controllers: [new Held().controller] });
    let reachable = false;
    api.refuse = () => (reachable ? undefined : new Error("connection refused"));
    begin();
    await until(() => made.ports.health !== undefined);
    await clock.advance(1_000);
    expect(await ready()).toBe("[-]start: still starting\n[-]caches: configmaps not synced\n");
    reachable = true;
    await clock.advance(60_000);
    expect(await ready()).toBe("ok");
    process.sigterm();
    await clock.advance(30_000);
    await until(() => run.state === "ended");
  });

  it("says when it is ready, by a promise", async () => {
    const { api, clock, begin, until, made } = world({ controllers: [new Held().controller] });
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

  it("says that it will not be ready when it is asked to stop before", async () => {
    const said: string[] = [];
    const log: Logger = { ...silentLogger, info: (_fields, message) => said.push(message), child: () => log };
    const { api, clock, begin, until, made, process, run } = world({ controllers: [new Held().controller], log });
    api.refuse = () => new Error("connection refused");
    begin();
    await until(() => api.calls.length > 0);
    process.sigterm();
    await clock.advance(0);
    await expect(made.ready).rejects.toThrow("asked to stop");
    await clock.advance(30_000);
    await until(() => run.state === "ended");
    expect(said.at(-1)).toBe("stopped");
  });

  it("serves metrics of its owner's among its own", async () => {
    const raises = new Counter({ name: "raises_total", help: "Raises", labelNames: ["why"], registers: [] });
    const { made } = world({ metrics: [raises] });
    raises.inc({ why: "test" });
    expect((await made.metrics.text()).body).toContain('raises_total{why="test"} 1');
  });

  it("calls itself as it was told to", async () => {
    const { clock, begin, until, held } = world({ instance: "replica-7" });
    begin();
    await until(() => held() !== undefined);
    await clock.advance(0);
    expect(held()?.holderIdentity).toMatch(/^replica-7_/);
  });

  it("does not lead before it can see, nor work before it leads", async () => {
    const held = new Held();
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

  it("ends in order when asked to stop while it waits for its turn", async () => {
    const { objects, clock, begin, until, process, run, made } = world();
    await objects.client.create(Lease, { metadata: lease, spec: { holderIdentity: "another", leaseDurationSeconds: 600 } });
    begin();
    await until(() => made.ports.health !== undefined && objects.calls.length > 1);
    process.sigterm();
    await clock.advance(5_000);
    await until(() => run.state === "ended");
    expect(process.exits).toEqual([]);
  });

  it("serves webhooks with certificates that somebody else puts into a folder", async () => {
    await using folder = await temporaryFolder();
    const environment = systemEnvironment();
    const authority = makeAuthority({ name: "somebody", lifetimeMs: 3_600_000 }, environment);
    const { certificate, key } = issueServing(authority, { names: ["localhost"], lifetimeMs: 3_600_000 }, environment);
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
    { name: "a name that no Lease could have", options: { name: "Gordon Operator" } },
    { name: "two controllers of one name", options: { name: "x", controllers: [new Held().controller, new Held().controller] } },
  ])("refuses $name", ({ options }) => {
    expect(() => operator({ controllers: [], ...options })).toThrow(expect.objectContaining({ code: "OPERATOR_OPTIONS" }));
  });
});

describe("an operator that is asked to stop", () => {
  async function atWork(held: Held, options: Partial<OperatorOptions> = {}) {
    const all = world({ controllers: [held.controller], ...options });
    all.begin();
    await all.until(() => all.made.ports.health !== undefined);
    for (let seconds = 0; held.begun === 0 && seconds < 60; seconds += 1) await all.clock.advance(1_000);
    expect(held.begun).toBe(1);
    return all;
  }

  it("finishes what is under way before it gives up the lease", async () => {
    const held = new Held();
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

  it("aborts what takes longer than it has, and then gives up the lease", async () => {
    const held = new Held();
    const { clock, process, until, run, held: claim } = await atWork(held);
    process.sigterm();
    await clock.advance(20_000);
    await clock.advance(3_000);
    await until(() => run.state === "ended");
    expect(held.aborted).toBeDefined();
    expect(claim()?.holderIdentity).toBe("");
  });

  it("does not wait for a reconcile that is deaf to its signal: it is cut off from the API and left behind", async () => {
    const held = new Held({ deaf: true });
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

  it("L1: leaves without giving up the lease when something does not stop at all", async () => {
    const held = new Held();
    const { api, clock, process, held: claim } = await atWork(held);
    // A watch that goes on for ever, whatever its signal says.
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

  it("leaves at once when it is asked twice", async () => {
    const held = new Held();
    const { process } = await atWork(held);
    process.sigterm();
    expect(process.exits).toEqual([]);
    process.sigterm();
    expect(process.exits).toEqual([1]);
    held.release();
  });

  it("L2: aborts what is in flight and exits within a second of losing the lease", async () => {
    const held = new Held();
    const { clock, process, objects } = await atWork(held);
    objects.before = () => {
      throw new Error("connection refused");
    };
    for (let ms = 0; held.aborted === undefined && ms < 12_000; ms += 10) await clock.advance(10);
    expect(held.aborted).toMatchObject({ code: "LEADERSHIP_LOST" });
    await clock.advance(1_000);
    expect(process.exits).toEqual([1]);
  });

  it("L2: exits within a second even if what is in flight is deaf, and even while it drains", async () => {
    const held = new Held({ deaf: true });
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

describe("what an operator may do", () => {
  it("is computed from its controllers, its election and its webhooks", () => {
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

  it("S1: takes no right to Secrets when somebody else makes the certificates", () => {
    const { made } = world({ webhooks: [validate(ConfigMap, () => allowed())], webhookServer: { certificateFolder: "/certs" } });
    expect(JSON.stringify(rulesFor(made.grants))).not.toContain("secrets");
  });
});
