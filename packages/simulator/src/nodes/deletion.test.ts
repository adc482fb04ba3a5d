import { Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowCluster, isReady, namespace, statusOf } from "./hollow-cluster.fixture.ts";

const second = 1_000;
const graceful = { command: ["sh", "-c", "trap 'sleep 1; exit 0' TERM; while true; do sleep 0.2; done"] };
const deaf = { command: ["sleep", "100000"] };

describe("a deleted pod", () => {
  it("reports one status update while it terminates, then is removed", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("plain", { container: graceful, spec: { terminationGracePeriodSeconds: 3 } });
    const { metadata } = await cluster.until("plain", isReady);
    await cluster.client.delete(Pod, { namespace, name: "plain" });
    await cluster.clock.advance(100);
    const heard = await cluster.pod("plain");
    expect([heard.status?.observedGeneration, heard.metadata.generation]).toEqual([2, 2]);
    expect([...new Set(heard.status?.conditions?.map(({ observedGeneration }) => observedGeneration))]).toEqual([2]);
    await cluster.clock.advance(10 * second);
    expect(cluster.statuses("plain").slice(-3)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Succeeded initialized | main Completed 0",
      "gone",
    ]);
    expect(metadata.uid).toBeDefined();
    expect(await cluster.events("plain")).toContain("Killing 1 Stopping container main");
  });

  it("is killed at the end of its grace period", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("deaf", { container: deaf, spec: { terminationGracePeriodSeconds: 5 } });
    await cluster.until("deaf", isReady);
    await cluster.client.delete(Pod, { namespace, name: "deaf" });
    await cluster.clock.advance(4_900);
    expect(await cluster.find("deaf")).toBeDefined();
    await cluster.clock.advance(second);
    expect(cluster.statuses("deaf").slice(-2)).toEqual(["Failed initialized | main Error 137", "gone"]);
  });

  it("is killed earlier if the grace period is shortened", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("deaf", { container: deaf, spec: { terminationGracePeriodSeconds: 600 } });
    await cluster.until("deaf", isReady);
    await cluster.client.delete(Pod, { namespace, name: "deaf" });
    await cluster.clock.advance(30 * second);
    await cluster.client.delete(Pod, { namespace, name: "deaf" }, { gracePeriodSeconds: 2 });
    await cluster.clock.advance(4 * second);
    expect(await cluster.find("deaf")).toBeUndefined();
  });

  it("stops its sidecars after its containers, in reverse order, with a grace period of at least two seconds", async () => {
    await using cluster = await hollowCluster();
    const initContainers = ["one", "two"].map((name) => ({ name, image: "x", restartPolicy: "Always", ...deaf }));
    await cluster.create("inits", { container: deaf, spec: { terminationGracePeriodSeconds: 2, initContainers } });
    await cluster.until("inits", isReady);
    await cluster.client.delete(Pod, { namespace, name: "inits" });
    await cluster.clock.advance(5_900);
    expect(await cluster.find("inits")).toBeDefined();
    await cluster.clock.advance(second);
    expect(await cluster.find("inits")).toBeUndefined();
    const killing = (await cluster.events("inits")).filter((line) => line.startsWith("Killing"));
    expect(killing.length).toBe(3);
  });

  it("runs the sleep of its preStop hook before SIGTERM", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("hooked", { container: { lifecycle: { preStop: { sleep: { seconds: 4 } } } } });
    await cluster.until("hooked", isReady);
    await cluster.client.delete(Pod, { namespace, name: "hooked" });
    await cluster.clock.advance(3_900);
    expect(await cluster.find("hooked")).toBeDefined();
    await cluster.clock.advance(second);
    expect(await cluster.find("hooked")).toBeUndefined();
  });

  it("is removed immediately if it waits for a restart", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("crashes", { container: { command: ["sh", "-c", "exit 1"] } });
    await cluster.until("crashes", (pod) => statusOf(pod)?.restartCount === 2 && statusOf(pod)?.state?.running === undefined);
    await cluster.client.delete(Pod, { namespace, name: "crashes" });
    await cluster.clock.advance(second);
    expect(await cluster.find("crashes")).toBeUndefined();
  });

  it("can be replaced by a pod of the same name with a fresh status", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("twin", { container: { command: ["sh", "-c", "sleep 1; exit 1"] } });
    await cluster.until("twin", (pod) => statusOf(pod)?.restartCount === 1);
    await cluster.client.delete(Pod, { namespace, name: "twin" }, { gracePeriodSeconds: 0 });
    await cluster.create("twin");
    const twin = await cluster.until("twin", isReady);
    await cluster.clock.advance(60 * second);
    expect(statusOf(await cluster.pod("twin"))).toMatchObject({ restartCount: 0, containerID: statusOf(twin)?.containerID });
  });

  it("is deleted only once, even if a finalizer keeps it", async () => {
    await using cluster = await hollowCluster();
    const { metadata } = await cluster.create("kept");
    await cluster.until("kept", isReady);
    await cluster.client.patch(Pod, metadata, { type: "merge", body: { metadata: { finalizers: ["example.com/keep"] } } });
    await cluster.client.delete(Pod, { namespace, name: "kept" });
    await cluster.clock.advance(5 * second);
    const { resourceVersion } = (await cluster.pod("kept")).metadata;
    await cluster.clock.advance(600 * second);
    expect((await cluster.pod("kept")).metadata.resourceVersion).toBe(resourceVersion);
  });
});
