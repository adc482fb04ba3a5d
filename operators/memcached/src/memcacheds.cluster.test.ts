// The promises of a Memcached on an API server.
import { Deployment, Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { deploymentFor } from "./deployment.ts";
import { reasonOf, stage } from "./stage.fixture.ts";

describe("a Memcached", () => {
  it("has exactly spec.size servers after 3 → 5 → 1, and status.nodes lists them sorted", async () => {
    await using on = await stage();
    await on.start();
    for (const size of [3, 5, 1]) {
      await on.ask("a", { size });
      const found = await on.settled("a", size);
      expect(found?.status?.nodes).toEqual((await on.pods()).map(({ metadata }) => metadata.name).sort());
    }
    await eventually(on.notes, (notes) =>
      ["Created", "Scaled: from 3 to 5", "Scaled: from 5 to 1"].every((note) => notes.join().includes(note)),
    );
    expect(on.undesired).toHaveLength(2);
  });

  it("replaces killed servers, and status.nodes lists the current ones", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", { size: 3 });
    const before = (await on.settled("a", 3))?.status?.nodes ?? [];
    for (const name of before.slice(1)) await on.client.delete(Pod, { namespace: on.namespace, name });
    const after = await on.says("a", ({ status }) => {
      const nodes = status?.nodes ?? [];
      return status?.readyReplicas === 3 && nodes.filter((name) => !before.includes(name)).length === 2;
    });
    expect(after?.status?.nodes).toEqual((await on.pods()).map(({ metadata }) => metadata.name).sort());
    expect(after?.status?.nodes).toContain(before[0]);
  });

  it("rolls out a version server by server, and reports the end", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", { size: 3, version: "1.6.9" });
    expect((await on.settled("a", 3))?.status?.version).toBe("1.6.9");
    on.kubelet.stateOf = ({ spec }) => (spec.containers[0]?.image === "memcached:bad" ? "ErrImagePull" : "Ready");
    await on.ask("a", { size: 3, version: "bad" });
    const bad = await on.says("a", ({ status }) => reasonOf(status, "Available") === "ImageNotPulled");
    expect(bad?.status).toMatchObject({ version: "1.6.9", readyReplicas: 3 });
    expect(reasonOf(bad?.status, "Degraded")).toBe("ImageNotPulled");
    await on.ask("a", { size: 3, version: "1.6.10" });
    await on.says("a", ({ status }) => status?.version === "1.6.10" && reasonOf(status, "Degraded") === "AsExpected");
    await on.settled("a", 3);
  });

  it("reverts changes of others to its own fields, and keeps their other changes", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", { size: 3 });
    await on.settled("a", 3);
    const evil = { template: { spec: { containers: [{ name: "memcached", image: "evil:1" }] } } };
    await on.patchDeployment("a", { spec: { replicas: 1 } });
    await on.patchDeployment("a", { spec: evil });
    await on.patchDeployment("a", { metadata: { annotations: { team: "blue" } } });
    const put = await eventually(
      () => on.deployment("a"),
      (found) => found?.spec.replicas === 3 && found.spec.template.spec.containers[0]?.image === "memcached:1.6",
    );
    expect(put?.metadata.annotations?.team).toBe("blue");
    await on.settled("a", 3);
    await on.client.delete(Deployment, { namespace: on.namespace, name: "a" });
    await eventually(on.notes, (notes) => notes.join().includes("Reverted"));
    await on.settled("a", 3);
  });

  it("shares no servers with another Memcached in its namespace, and does not count pods of others with its labels", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", { size: 1 });
    await on.ask("b", { size: 3 });
    const [a, b] = [await on.settled("a", 1), await on.settled("b", 3)];
    expect(new Set([...(a?.status?.nodes ?? []), ...(b?.status?.nodes ?? [])]).size).toBe(4);
    const { template } = deploymentFor(a as never, "memcached").spec;
    await on.client.create(Pod, {
      metadata: { ...template.metadata, namespace: on.namespace, name: "stranger" },
      spec: template.spec,
    });
    await on.ask("a", { size: 3 });
    expect((await on.settled("a", 3))?.status?.nodes).not.toContain("stranger");
    expect(await on.client.find(Pod, { namespace: on.namespace, name: "stranger" })).toBeDefined();
  });

  it("does not change a Deployment of its name with another owner, reports it, and continues when it is deleted", async () => {
    await using on = await stage();
    await on.start();
    const { spec, metadata } = deploymentFor(
      { metadata: { name: "a" }, spec: { size: 1, version: "1", containerPort: 11211 } } as never,
      "somebody",
    );
    const before = await on.client.create(Deployment, { metadata: { ...metadata, namespace: on.namespace }, spec });
    await on.ask("a", { size: 3 });
    const found = await on.says("a", ({ status }) => reasonOf(status, "Degraded") === "NameConflict");
    expect(reasonOf(found?.status, "Available")).toBe("NameConflict");
    const after = await on.deployment("a");
    expect([after?.metadata.uid, after?.spec]).toEqual([before.metadata.uid, before.spec]);
    await on.client.delete(Deployment, { namespace: on.namespace, name: "a" });
    await on.settled("a", 3);
  });
});

describe("deletion of a Memcached", () => {
  it("removes the servers first, also if the operator was down", async () => {
    await using on = await stage();
    const instance = await on.start();
    await on.ask("a", { size: 3 });
    await on.settled("a", 3);
    await instance.stop();
    await on.remove("a");
    expect(await on.find("a")).toBeDefined();
    await on.start();
    await on.gone("a");
    expect([await on.deployment("a"), await on.pods()]).toEqual([undefined, []]);
  });

  it("keeps the servers with propagation policy Orphan", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", { size: 1 });
    await on.settled("a", 1);
    await on.remove("a", { propagationPolicy: "Orphan" });
    await on.gone("a");
    expect((await on.deployment("a"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await on.pods()).toHaveLength(1);
  });
});

describe("the operator", () => {
  it("writes nothing when nothing changes, also right after its start", async () => {
    await using on = await stage();
    const first = await on.start({ resyncMs: 50 });
    await on.ask("a", { size: 3 });
    await on.settled("a", 3);
    const twentyMore = async ({ reconciles }: typeof first) => {
      const enough = (await reconciles()) + 20; // there is only one object, and every resync looks at it
      await eventually(reconciles, (count) => count >= enough);
    };
    await twentyMore(first); // what was under way has come to rest
    first.journal.clear();
    await twentyMore(first);
    expect(first.journal.writes).toEqual([]); // not even events
    await first.stop();
    const second = await on.start({ resyncMs: 50 });
    await twentyMore(second);
    expect(second.journal.writes).toEqual([]);
  });
});

describe("the API server", () => {
  it.each([
    { spec: { size: 2 }, says: "Cluster size must be an odd number" },
    { spec: { size: 0 }, says: "spec.size" },
    { spec: { version: "no tag" }, says: "spec.version" },
    { spec: { containerPort: 80 }, says: "should be greater than or equal to 1024" },
  ])("rejects $spec with a reason", async ({ spec, says }) => {
    await using on = await stage();
    await expect(on.ask("bad", spec)).rejects.toThrow(says);
  });

  it("sets defaults", async () => {
    await using on = await stage();
    expect((await on.ask("a", {})).spec).toEqual({ size: 3, version: "1.6", containerPort: 11211 });
  });
});
