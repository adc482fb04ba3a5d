import { Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowWorld, isReady, namespace, statusOf } from "./hollow-world.fixture.ts";

const second = 1_000;
const graceful = { command: ["sh", "-c", "trap 'sleep 1; exit 0' TERM; while true; do sleep 0.2; done"] };
const deaf = { command: ["sleep", "100000"] };

describe("a pod that is deleted", () => {
  it("is told nothing but that it was heard, until it is over; then it is gone", async () => {
    await using world = await hollowWorld();
    await world.create("plain", { container: graceful, spec: { terminationGracePeriodSeconds: 3 } });
    const { metadata } = await world.until("plain", isReady);
    await world.client.delete(Pod, { namespace, name: "plain" });
    await world.clock.advance(100);
    const heard = await world.pod("plain");
    expect([heard.status?.observedGeneration, heard.metadata.generation]).toEqual([2, 2]);
    expect([...new Set(heard.status?.conditions?.map(({ observedGeneration }) => observedGeneration))]).toEqual([2]);
    await world.clock.advance(10 * second);
    expect(world.story("plain").slice(-3)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Succeeded initialized | main Completed 0",
      "gone",
    ]);
    expect(metadata.uid).toBeDefined();
    expect(await world.events("plain")).toContain("Killing 1 Stopping container main");
  });

  it("is killed when its grace is over", async () => {
    await using world = await hollowWorld();
    await world.create("deaf", { container: deaf, spec: { terminationGracePeriodSeconds: 5 } });
    await world.until("deaf", isReady);
    await world.client.delete(Pod, { namespace, name: "deaf" });
    await world.clock.advance(4_900);
    expect(await world.find("deaf")).toBeDefined();
    await world.clock.advance(second);
    expect(world.story("deaf").slice(-2)).toEqual(["Failed initialized | main Error 137", "gone"]);
  });

  it("goes earlier if somebody changes their mind about the grace", async () => {
    await using world = await hollowWorld();
    await world.create("deaf", { container: deaf, spec: { terminationGracePeriodSeconds: 600 } });
    await world.until("deaf", isReady);
    await world.client.delete(Pod, { namespace, name: "deaf" });
    await world.clock.advance(30 * second);
    await world.client.delete(Pod, { namespace, name: "deaf" }, { gracePeriodSeconds: 2 });
    await world.clock.advance(4 * second);
    expect(await world.find("deaf")).toBeUndefined();
  });

  it("stops its sidecars after its containers, the last one first, and gives them two seconds at least", async () => {
    await using world = await hollowWorld();
    const initContainers = ["one", "two"].map((name) => ({ name, image: "x", restartPolicy: "Always", ...deaf }));
    await world.create("inits", { container: deaf, spec: { terminationGracePeriodSeconds: 2, initContainers } });
    await world.until("inits", isReady);
    await world.client.delete(Pod, { namespace, name: "inits" });
    await world.clock.advance(5_900);
    expect(await world.find("inits")).toBeDefined();
    await world.clock.advance(second);
    expect(await world.find("inits")).toBeUndefined();
    const killing = (await world.events("inits")).filter((line) => line.startsWith("Killing"));
    expect(killing.length).toBe(3);
  });

  it("sleeps before it stops if its hook says so", async () => {
    await using world = await hollowWorld();
    await world.create("hooked", { container: { lifecycle: { preStop: { sleep: { seconds: 4 } } } } });
    await world.until("hooked", isReady);
    await world.client.delete(Pod, { namespace, name: "hooked" });
    await world.clock.advance(3_900);
    expect(await world.find("hooked")).toBeDefined();
    await world.clock.advance(second);
    expect(await world.find("hooked")).toBeUndefined();
  });

  it("goes at once if it is waiting to start again", async () => {
    await using world = await hollowWorld();
    await world.create("crashes", { container: { command: ["sh", "-c", "exit 1"] } });
    await world.until("crashes", (pod) => statusOf(pod)?.restartCount === 2 && statusOf(pod)?.state?.running === undefined);
    await world.client.delete(Pod, { namespace, name: "crashes" });
    await world.clock.advance(second);
    expect(await world.find("crashes")).toBeUndefined();
  });

  it("may be replaced by a namesake that begins from nothing", async () => {
    await using world = await hollowWorld();
    await world.create("twin", { container: { command: ["sh", "-c", "sleep 1; exit 1"] } });
    await world.until("twin", (pod) => statusOf(pod)?.restartCount === 1);
    await world.client.delete(Pod, { namespace, name: "twin" }, { gracePeriodSeconds: 0 });
    await world.create("twin");
    const twin = await world.until("twin", isReady);
    await world.clock.advance(60 * second);
    expect(statusOf(await world.pod("twin"))).toMatchObject({ restartCount: 0, containerID: statusOf(twin)?.containerID });
  });

  it("is let go once, even if a finalizer keeps it", async () => {
    await using world = await hollowWorld();
    const { metadata } = await world.create("kept");
    await world.until("kept", isReady);
    await world.client.patch(Pod, metadata, { type: "merge", body: { metadata: { finalizers: ["example.com/keep"] } } });
    await world.client.delete(Pod, { namespace, name: "kept" });
    await world.clock.advance(5 * second);
    const { resourceVersion } = (await world.pod("kept")).metadata;
    await world.clock.advance(600 * second);
    expect((await world.pod("kept")).metadata.resourceVersion).toBe(resourceVersion);
  });
});
