import { describe, expect, it } from "vitest";
import { home, mergePatch, pod, simulated, summaries } from "./testing.ts";

const pods = `${home}/pods`;
const maps = `${home}/configmaps`;

async function withPod(spec: Record<string, unknown> = { nodeName: "n" }) {
  const cluster = await simulated();
  await cluster.ask("POST", pods, pod("p", spec));
  const { seen } = await cluster.watch(`${pods}?resourceVersion=${cluster.core.storage.version}`);
  const drop = (query = "") => cluster.ask("DELETE", `${pods}/p${query}`);
  return { ...cluster, seen, drop, settle: () => cluster.clock.advance(0) };
}

describe("a deleted pod", () => {
  it("that runs on a node keeps its grace period until the node confirms the end", async () => {
    const { drop, ask, seen, settle } = await withPod();
    const { metadata } = (await drop()).body;
    expect(metadata).toMatchObject({ deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30, generation: 2 });
    await drop("?gracePeriodSeconds=0");
    await settle();
    expect(summaries(seen)).toEqual(["MODIFIED p", "MODIFIED p", "DELETED p"]);
    expect((await ask("GET", `${pods}/p`)).status).toBe(404);
  });

  it("without a node is removed at once, after watchers see its deletionTimestamp", async () => {
    const { drop, seen, settle } = await withPod({});
    await drop();
    await settle();
    expect(summaries(seen)).toEqual(["MODIFIED p", "DELETED p"]);
    expect(seen[0]?.object.metadata.deletionGracePeriodSeconds).toBe(0);
  });

  it("can only get a shorter grace period, counted from the first deletion", async () => {
    const { drop, clock } = await withPod();
    await drop();
    await clock.advance(5000);
    expect((await drop("?gracePeriodSeconds=60")).body.metadata.deletionGracePeriodSeconds).toBe(30);
    const shorter = (await drop("?gracePeriodSeconds=10")).body.metadata;
    expect(shorter).toMatchObject({ deletionTimestamp: "2026-01-01T00:00:10Z", deletionGracePeriodSeconds: 10 });
  });
});

describe("finalizers", () => {
  it("keep a deleted object until the last one is removed", async () => {
    const { ask, watch, clock } = await simulated();
    await ask("POST", maps, { metadata: { name: "a", finalizers: ["x.y/a", "x.y/b"] } });
    const { seen } = await watch(maps);
    await ask("DELETE", `${maps}/a`);
    await ask("PATCH", `${maps}/a`, { metadata: { finalizers: ["x.y/b"] } }, mergePatch);
    expect((await ask("GET", `${maps}/a`)).status).toBe(200);
    await ask("PATCH", `${maps}/a`, { metadata: { finalizers: null } }, mergePatch);
    expect((await ask("GET", `${maps}/a`)).status).toBe(404);
    await clock.advance(0);
    expect(summaries(seen)).toEqual(["ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"]);
    // Watchers see the last stored state, which still has the last finalizer.
    expect(seen.at(-1)?.object.metadata.finalizers).toEqual(["x.y/b"]);
  });

  it("are set according to the propagation policy", async () => {
    const { ask } = await simulated();
    const finalizers = async (policy: string) => {
      await ask("POST", maps, { metadata: { name: policy.toLowerCase() } });
      const { body } = await ask("DELETE", `${maps}/${policy.toLowerCase()}?propagationPolicy=${policy}`);
      return body.metadata.finalizers;
    };
    expect(await finalizers("Foreground")).toEqual(["foregroundDeletion"]);
    expect(await finalizers("Orphan")).toEqual(["orphan"]);
    expect(await finalizers("Background")).toBeUndefined();
  });
});

describe("a deleted namespace", () => {
  it("is Terminating, rejects new objects, and is removed with its last finalizer", async () => {
    const { ask } = await simulated();
    await ask("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
    const { body } = await ask("DELETE", "/api/v1/namespaces/n");
    expect(body).toMatchObject({ status: { phase: "Terminating" }, spec: { finalizers: ["kubernetes"] } });
    const refused = await ask("POST", "/api/v1/namespaces/n/configmaps", { metadata: { name: "late" } });
    expect(refused).toMatchObject({ status: 403, body: { details: { causes: [{ reason: "NamespaceTerminating" }] } } });
    await ask("PUT", "/api/v1/namespaces/n/finalize", { metadata: { name: "n" }, spec: { finalizers: [] } });
    expect((await ask("GET", "/api/v1/namespaces/n")).status).toBe(404);
  });

  it("is rejected with 403 if it is a system namespace", async () => {
    const { ask } = await simulated();
    const { body } = await ask("DELETE", "/api/v1/namespaces/kube-system");
    expect(body.message).toBe('namespaces "kube-system" is forbidden: this namespace may not be deleted');
  });
});

describe("deleting a collection", () => {
  it("deletes the objects that match the selector and returns them", async () => {
    const { ask } = await simulated();
    for (const name of ["a", "b", "c"]) await ask("POST", maps, { metadata: { name, labels: { half: name < "c" ? "1" : "2" } } });
    const { body } = await ask("DELETE", `${maps}?labelSelector=half%3D1`);
    expect(body.items).toHaveLength(2);
    expect((await ask("GET", maps)).body.items).toHaveLength(1);
  });
});

describe("an eviction", () => {
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const evict = (options: object = {}) => ({ metadata: { name: "p" }, deleteOptions: options });

  async function protectedPod(allowed: number, { ready = true } = {}) {
    const cluster = await simulated();
    await cluster.ask("POST", pods, { ...pod("p", { nodeName: "n" }), metadata: { name: "p", labels: { app: "a" } } });
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
    await cluster.ask("PATCH", `${pods}/p/status`, { status: { phase: "Running", conditions } }, mergePatch);
    await cluster.ask("POST", budgets, {
      metadata: { name: "b" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "a" } } },
    });
    const status = { disruptionsAllowed: allowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
    await cluster.ask("PATCH", `${budgets}/b/status`, { status }, mergePatch);
    return { ...cluster, evict: (options?: object) => cluster.ask("POST", `${pods}/p/eviction`, evict(options)) };
  }

  it("that a budget does not allow gets 429 with the reason", async () => {
    const { evict: go } = await protectedPod(0);
    const { status, body } = await go();
    expect(status).toBe(429);
    expect(body.message).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    const message = "The disruption budget b needs 1 healthy pods and has 1 currently";
    expect(body.details.causes).toEqual([{ reason: "DisruptionBudget", message }]);
  });

  it("that a budget allows reduces it and sets DisruptionTarget before the deletion", async () => {
    const { evict: go, ask } = await protectedPod(1);
    expect((await go()).status).toBe(201);
    expect((await ask("GET", `${budgets}/b`)).body.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) },
    });
    const left = (await ask("GET", `${pods}/p`)).body;
    expect(left.status.conditions).toContainEqual(expect.objectContaining({ type: "DisruptionTarget", status: "True" }));
    expect(left.metadata.deletionTimestamp).toBeDefined();
  });

  it("of an unready pod does not use the budget while enough pods are healthy", async () => {
    const { evict: go, ask } = await protectedPod(0, { ready: false });
    expect((await go()).status).toBe(201);
    expect((await ask("GET", `${budgets}/b`)).body.status.disruptionsAllowed).toBe(0);
  });

  it("with an outdated resourceVersion gets 409 and does not use the budget", async () => {
    const { evict: go, ask } = await protectedPod(1);
    expect((await go({ preconditions: { resourceVersion: "1" } })).status).toBe(409);
    expect((await ask("GET", `${budgets}/b`)).body.status.disruptionsAllowed).toBe(1);
  });

  it("with the current resourceVersion succeeds, although the eviction itself writes to the pod", async () => {
    const { evict: go, ask } = await protectedPod(1);
    const { resourceVersion } = (await ask("GET", `${pods}/p`)).body.metadata;
    expect((await go({ preconditions: { resourceVersion } })).status).toBe(201);
  });
});
