// A gordon's promises on an API server: exact counts, whatever happens; nothing of others is touched; nothing is written
// when there is nothing to say.
import { Event, ownerReferenceTo, Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { Gordon } from "./api.ts";
import { podFor } from "./pods.ts";
import { namesOf, stage } from "./stage.fixture.ts";

describe("the number of pods is exact", () => {
  it("after 3 → 5 → 2 → 0, and remaining pods are never replaced", async () => {
    await using on = await stage();
    await on.start();
    const uids = new Map<string, string>();
    for (const replicas of [3, 5, 2, 0]) {
      await on.ask("a", replicas);
      for (const { metadata } of (await on.settled("a", replicas)).pods) {
        expect(uids.get(metadata.name) ?? metadata.uid).toBe(metadata.uid);
        uids.set(metadata.name, metadata.uid);
      }
    }
    expect(uids.size).toBe(5);
  });

  it("after pods are deleted, fail or finish: each is replaced under the same name", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", 3);
    const before = (await on.settled("a", 3)).pods.map(({ metadata }) => metadata.uid);
    await on.client.delete(Pod, { namespace: on.namespace, name: "gordon-a-0" });
    await on.say("gordon-a-1", "Failed");
    await on.say("gordon-a-2", "Succeeded");
    await eventually(
      () => on.pods("a"),
      (pods) => pods.length === 3 && pods.every(({ metadata }) => !before.includes(metadata.uid)),
    );
    await on.settled("a", 3);
    const told = async () => (await on.client.list(Event, { namespace: on.namespace })).items.map(({ note }) => note ?? "");
    await eventually(told, (notes) => notes.some((note) => note.startsWith("gordon-a-1 is Failed")));
  });

  it("for two Gordons in one namespace", async () => {
    await using on = await stage();
    await on.start();
    await on.ask("a", 2);
    await on.ask("a-1", 3); // gordon-a-1-0 is not gordon-a-1
    await on.settled("a", 2);
    await on.settled("a-1", 3);
    await on.client.delete(Gordon, { namespace: on.namespace, name: "a" });
    await eventually(
      () => on.client.list(Pod, { namespace: on.namespace }),
      ({ items }) => items.length === 3,
    );
    await on.settled("a-1", 3);
  });
});

describe("a pod of another owner", () => {
  it("is neither counted nor changed, with any labels and name", async () => {
    await using on = await stage();
    const { namespace } = on;
    const like = podFor({ metadata: { name: "a" } } as never, 0, "somebody:else");
    const strangers = ["stranger", "gordon-a-1", "gordon-a-7"];
    for (const name of strangers) await on.client.create(Pod, { ...like, metadata: { ...like.metadata, namespace, name } });
    // Everything but what a scheduler or a kubelet may say of them in the meantime.
    const look = async () =>
      (await on.client.list(Pod, { namespace })).items
        .filter(({ metadata }) => strangers.includes(metadata.name))
        .map(({ metadata: { resourceVersion: _version, managedFields: _managed, ...metadata }, spec }) => ({ metadata, spec }));
    const before = await look();
    await on.start();
    await on.ask("a", 3);
    const gordon = await eventually(
      () => on.find("a"),
      (found) => found?.status?.pods.length === 2,
    );
    expect(gordon?.status).toMatchObject({ pods: ["gordon-a-0", "gordon-a-2"], replicas: 2 });
    expect(gordon?.status?.conditions?.[0]).toMatchObject({
      reason: "NameTaken",
      message: expect.stringContaining("gordon-a-1"),
    });
    await on.ask("a", 0);
    await eventually(
      () => on.find("a"),
      (found) => found?.status?.replicas === 0,
    );
    expect(await look()).toEqual(before);
    await on.ask("a", 2);
    await on.client.delete(Pod, { namespace, name: "gordon-a-1" });
    await on.settled("a", 2);
  });

  it("that is left from a deleted Gordon of the same name is not counted; its successor waits for it", async () => {
    await using on = await stage();
    await on.ask("a", 1);
    const first = await on.client.get(Gordon, { namespace: on.namespace, name: "a" });
    await on.client.delete(Gordon, { namespace: on.namespace, name: "a" });
    const { metadata, spec } = podFor(first, 0, "gordon:test");
    const old = await on.client.create(Pod, {
      metadata: { ...metadata, namespace: on.namespace, ownerReferences: [ownerReferenceTo(first, Gordon)] },
      spec,
    });
    await on.ask("a", 1);
    await on.start();
    const { pods } = await on.settled("a", 1);
    expect(pods[0]?.metadata.uid).not.toBe(old.metadata.uid);
  });
});

describe("steady state and deletion", () => {
  it("nothing is written when nothing changes, by a running operator or a new one", async () => {
    await using on = await stage();
    const first = await on.start({ resyncMs: 50 });
    await on.ask("a", 3);
    await on.settled("a", 3);
    for (const pod of namesOf("a", 3)) await on.say(pod, "Running");
    await on.says("a", "AllPodsReady");
    const twentyMore = async ({ reconciles }: typeof first) => {
      const enough = (await reconciles()) + 20; // there is only one gordon, and every resync looks at it
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

  it("deletion while the operator is down leaves no pods", async () => {
    await using on = await stage();
    const instance = await on.start();
    await on.ask("a", 3);
    await on.settled("a", 3);
    await instance.stop();
    await on.client.delete(Gordon, { namespace: on.namespace, name: "a" });
    await eventually(
      () => on.client.list(Pod, { namespace: on.namespace }),
      ({ items }) => items.length === 0,
    );
    await on.start();
    await on.ask("b", 1);
    await on.settled("b", 1);
    expect((await on.client.list(Pod, { namespace: on.namespace })).items.map(({ metadata }) => metadata.name)).toEqual(
      namesOf("b", 1),
    );
  });
});

describe("the API server rejects", () => {
  it.each([
    { spec: { gordon: { replicas: -1 } }, says: "spec.gordon.replicas" },
    { spec: { gordon: { replicas: 1.5 } }, says: "must be of type integer" },
    { spec: { gordon: {} }, says: "spec.gordon.replicas: Required value" },
    { spec: {}, says: "spec.gordon: Required value" },
    { spec: { gordon: { replicas: 2000 } }, says: "should be less than or equal to 1000" },
  ])("$spec with a reason", async ({ spec, says }) => {
    await using on = await stage();
    const object = { apiVersion: "operator.prgcont.cz/v1", kind: "Gordon", metadata: { name: "bad" }, spec };
    await expect(on.cluster.apply(object)).rejects.toThrow(says);
  });

  it("a name that is too long for a label", async () => {
    await using on = await stage();
    await expect(on.ask("a".repeat(64), 1)).rejects.toThrow("at most 63 characters");
  });
});
