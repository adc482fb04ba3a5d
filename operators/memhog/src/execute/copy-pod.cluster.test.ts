import { ConfigMap, Pod, Service, type Stored } from "@memhog/runtime";
import { TransportError } from "@memhog/runtime/client";
import { ServiceAccount } from "@memhog/runtime/kinds";
import { formatSelector } from "@memhog/runtime/objects";
import { describe, expect, it } from "vitest";
import { copyOfLabel } from "../api/names.ts";
import type { Command } from "../model/plan.ts";
import { intentOn, memory, ready, resourcesIn, stage } from "./stage.fixture.ts";

const copy = "hungry-autoscaled";
const createOf = (pod: Stored<Pod>): Command => ({ do: "createCopy", intent: intentOn(pod, { method: "CopyPod", copy }), copy });
const deleteOf = (of: Stored<Pod>, pod: Stored<Pod>, why: "Replaced" | "NotReady" | "Withdrawn", copyUid = ""): Command => ({
  do: "deletePod",
  intent: intentOn(of, { method: "CopyPod", copy, copyUid }),
  name: pod.metadata.name,
  uid: pod.metadata.uid,
  why,
});

describe("redeploying a bare pod", () => {
  it("makes a copy that keeps volumes, sidecar, labels and account, and stays in its Service", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    await client.create(ServiceAccount, { metadata: { namespace, name: "keeper" } });
    await client.create(ConfigMap, { metadata: { namespace, name: "settings" } });
    await client.create(Service, {
      metadata: { namespace, name: "hungry" },
      spec: { selector: { app: "hungry" }, ports: [{ port: 80 }] },
    });
    const mount = [{ name: "settings", mountPath: "/settings" }];
    const pod = await at.make("hungry", {
      metadata: { labels: { app: "hungry" }, annotations: { "app-monitor.kubedemo.com/monitor": "true", note: "kept" } },
      spec: {
        serviceAccountName: "keeper",
        volumes: [{ name: "settings", configMap: { name: "settings" } }],
        containers: [
          { name: "main", image: "example.com/none", resources: memory("256Mi", "384Mi"), volumeMounts: mount },
          { name: "side", image: "example.com/none", volumeMounts: mount },
        ],
      },
    });
    expect(await at.act(createOf(pod))).toMatchObject({ outcome: "done" });
    const made = await client.get(Pod, { namespace, name: copy });
    expect(resourcesIn(made.spec)).toMatchObject({ main: memory("512Mi", "768Mi"), side: {} });
    expect(made.metadata.labels).toEqual({ app: "hungry", [copyOfLabel]: pod.metadata.uid });
    expect(made.metadata.annotations).toMatchObject({ note: "kept", "app-monitor.kubedemo.com/monitor": "true" });
    // What is injected is injected once, under a name of its own; all else is as in the original.
    const plain = (given: Stored<Pod>) =>
      JSON.parse(
        JSON.stringify(given.spec)
          .replaceAll(/kube-api-access-\w+/g, "token")
          .replaceAll("768Mi", "384Mi")
          .replaceAll("512Mi", "256Mi"),
      );
    expect(plain(made)).toEqual(plain(pod));
    // Pods without a node are in no EndpointSlice; what a Service selects by is all that can be seen here.
    const { spec } = await client.get(Service, { namespace, name: "hungry" });
    const { items } = await client.list(Pod, { namespace, labelSelector: formatSelector({ matchLabels: spec?.selector ?? {} }) });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(["hungry", copy]);
  });

  it("makes one copy, however often it is asked (C4)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const before = await at.act(createOf(pod));
    const made = await at.get(copy);
    const again = await at.act(createOf(pod));
    expect([before, again]).toMatchObject([made, made].map((one) => ({ outcome: "done", copyUid: one?.metadata.uid })));
    expect((await at.get(copy))?.metadata.uid).toBe(made?.metadata.uid);
    expect((await at.client.list(Pod, { namespace: at.namespace })).items).toHaveLength(2);
  });

  it("does not assume anything about a create whose answer was lost; the next time finds the copy (C2)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const lost: typeof at.client = {
      ...at.client,
      create: async (...call) => {
        await at.client.create(...call);
        throw new TransportError("the connection was reset", { outcome: "unknown" });
      },
    };
    expect(await at.act(createOf(pod), { as: lost })).toMatchObject({ outcome: "unknown", error: expect.any(TransportError) });
    expect(await at.act(createOf(pod))).toMatchObject({ outcome: "done" });
    expect((await at.client.list(Pod, { namespace: at.namespace })).items).toHaveLength(2);
  });

  it("C1: finds a copy from before a crash without another write", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.act(createOf(pod));
    const create = () => Promise.reject(new Error("expected no write"));
    const again = await at.act(createOf(pod), { as: { ...at.client, create } });
    expect(again).toMatchObject({ outcome: "done", copyUid: (await at.get(copy))?.metadata.uid });
  });

  it("rejects a name that another pod has, and leaves that pod alone", async () => {
    await using at = await stage();
    const stranger = await at.make(copy);
    expect(await at.act(createOf(await at.make("hungry")))).toMatchObject({
      outcome: "refused",
      message: expect.stringContaining(copy),
    });
    expect((await at.get(copy))?.metadata.uid).toBe(stranger.metadata.uid);
  });

  it("T2: takes no pod of that name and label for the copy that has another image, and deletes nothing for its sake", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const containers = [{ name: "main", image: "example.com/attacker", resources: memory("512Mi", "768Mi") }];
    const labels = { [copyOfLabel]: pod.metadata.uid };
    const annotations = { "app-monitor.kubedemo.com/monitor": "true" };
    await at.make(copy, { metadata: { labels, annotations }, spec: { containers } });
    await at.say(copy, ready);
    expect(await at.act(createOf(pod))).toMatchObject({ outcome: "refused", cause: "NameTaken" });
    expect(await at.act(deleteOf(pod, pod, "Replaced", "the UID of our copy"))).toMatchObject({
      outcome: "changed",
      message: expect.stringContaining("not there"),
    });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it.each([
    { name: "has another image", image: "example.com/attacker", labeled: true },
    { name: "lacks the label", image: "example.com/none", labeled: false },
  ])("T2: keeps the original if the recorded copyUid is that of a Ready pod that $name", async ({ image, labeled }) => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const containers = pod.spec.containers.map((container) => ({ ...container, image, volumeMounts: [] }));
    const labels = labeled ? { [copyOfLabel]: pod.metadata.uid } : {};
    const forged = await at.make(copy, { metadata: { labels }, spec: { containers } });
    await at.say(copy, ready);
    expect(await at.act(deleteOf(pod, pod, "Replaced", forged.metadata.uid))).toMatchObject({
      outcome: "refused",
      message: expect.stringContaining("not a copy"),
    });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("removes the original only while its copy is Ready (D2)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    expect(await at.act(deleteOf(pod, pod, "Replaced"))).toMatchObject({
      outcome: "changed",
      message: expect.stringContaining("not there"),
    });
    const { copyUid } = await at.act(createOf(pod));
    expect(await at.act(deleteOf(pod, pod, "Replaced", copyUid))).toMatchObject({
      outcome: "changed",
      message: expect.stringContaining("not Ready"),
    });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
    await at.say(copy, ready);
    expect(await at.act(deleteOf(pod, pod, "Replaced", copyUid))).toMatchObject({ outcome: "done" });
    await at.cluster.eventually(
      () => at.get("hungry"),
      (found) => found === undefined,
    );
    expect(await at.act(deleteOf(pod, pod, "Replaced"))).toMatchObject({ outcome: "gone" });
    expect((await at.get(copy))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("keeps the original while its copy is being deleted, Ready or not (D2)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const { copyUid } = await at.act(createOf(pod));
    await at.say(copy, ready);
    const ref = { namespace: at.namespace, name: copy };
    const finalizers = (names: readonly string[]) =>
      at.client.patch(Pod, ref, { type: "merge", body: { metadata: { finalizers: names } } });
    await finalizers(["example.com/stay"]);
    await at.client.delete(Pod, ref);
    expect(await at.act(deleteOf(pod, pod, "Replaced", copyUid))).toMatchObject({ outcome: "changed" });
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
    await finalizers([]);
  });

  it("removes a copy that is not Ready, but none that became so, and never a pod that is no copy (C4)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    expect(await at.act(deleteOf(pod, pod, "NotReady"))).toMatchObject({
      outcome: "changed",
      message: expect.stringContaining("not the copy"),
    });
    const { copyUid } = await at.act(createOf(pod));
    const made = await at.client.get(Pod, { namespace: at.namespace, name: copy });
    await at.say(copy, ready);
    expect(await at.act(deleteOf(pod, made, "NotReady", copyUid))).toMatchObject({ outcome: "changed" });
    await at.say(copy, { conditions: [{ type: "Ready", status: "False" }] });
    expect(await at.act(deleteOf(pod, made, "NotReady", copyUid))).toMatchObject({ outcome: "done" });
    await at.cluster.eventually(
      () => at.get(copy),
      (found) => found === undefined,
    );
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("D6: removes a copy that is no longer asked for, Ready or not and whatever its annotation, while the original is there", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const { copyUid } = await at.act(createOf(pod));
    const made = await at.client.get(Pod, { namespace: at.namespace, name: copy });
    await at.say(copy, ready);
    await at.annotate(copy, "false");
    await at.annotate("hungry", "false");
    expect(await at.act(deleteOf(pod, pod, "Withdrawn", copyUid))).toMatchObject({ outcome: "changed" });
    expect(await at.act(deleteOf(pod, made, "Withdrawn", copyUid))).toMatchObject({ outcome: "done" });
    await at.cluster.eventually(
      () => at.get(copy),
      (found) => found === undefined,
    );
    expect((await at.get("hungry"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("D6, T2: a withdrawn copy stays if the original is gone, or if it is not the recorded one", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const { copyUid } = await at.act(createOf(pod));
    const made = await at.client.get(Pod, { namespace: at.namespace, name: copy });
    expect(await at.act(deleteOf(pod, made, "Withdrawn", "another"))).toMatchObject({ outcome: "changed" });
    await at.client.delete(Pod, { namespace: at.namespace, name: "hungry" });
    await at.cluster.eventually(
      () => at.get("hungry"),
      (found) => found === undefined,
    );
    expect(await at.act(deleteOf(pod, made, "Withdrawn", copyUid))).toMatchObject({
      outcome: "changed",
      message: expect.stringContaining("stays"),
    });
    expect((await at.get(copy))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("is stopped by the annotation (E4)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.annotate("hungry", "false");
    expect(await at.act(createOf(pod))).toMatchObject({ outcome: "stopped" });
    expect(await at.get(copy)).toBeUndefined();
  });
});
