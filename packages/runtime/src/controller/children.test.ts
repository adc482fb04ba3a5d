import { describe, expect, it } from "vitest";
import { ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { Namespace } from "../objects/kinds/core/namespace.ts";
import { Node } from "../objects/kinds/core/node.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { type Kind, keyOf } from "../objects/object.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { child, type DesiredChild, hashAnnotation } from "./children.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** The server says 422. */
function refuse(message: string, causes: readonly string[] = [message]): never {
  const details = { causes: causes.map((cause) => ({ reason: "FieldValueInvalid", message: cause, field: "data" })) };
  throw new InvalidError({ attempt: "scripted", status: 422, reason: "Invalid", message, details });
}

/** The server says 403. */
function forbid(): never {
  throw new ForbiddenError({ attempt: "scripted", status: 403, reason: "Forbidden", message: "you may not" });
}

const notesOf = ({ runner }: Awaited<ReturnType<typeof atWork>>) => runner.explain(ref("a")).flatMap(({ notes }) => notes);

/** Wants these children of whatever object it has. */
const wanting = (...children: readonly DesiredChild[]) =>
  controller(ConfigMap, { owns: [Secret, Pod] }, async (own, ctx) => {
    const owner = ctx.get(ConfigMap, own);
    if (owner !== undefined) await ctx.applyChildren(owner, children);
    return done();
  });

describe("children", () => {
  const colours = (wanted: () => readonly string[]) =>
    controller(ConfigMap, { owns: [Secret], resyncMs: 60_000 }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      if (owner === undefined) return done();
      const children = wanted().map((name) =>
        child(Secret, { metadata: { name, labels: { app: "colours" } }, stringData: { name } }),
      );
      await ctx.applyChildren(owner, children);
      return done();
    });

  const fixed = (whenImmutable: "replace" | "fail", value: () => string) =>
    controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      const object = { metadata: { name: "s" }, stringData: { value: value() } };
      if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object, { whenImmutable })]);
      return done();
    });

  it("are made, kept and removed; E1: and then nothing is written over 100 resyncs", async () => {
    let wanted = ["red", "green"];
    await using at = await atWork(() => colours(() => wanted));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    await at.clock.advance(100 * 66_000);
    expect(at.world.writes).toEqual([]);
    at.api.put(Secret, {
      ...at.api.get(Secret, ref("red")),
      metadata: { ...at.api.get(Secret, ref("red"))?.metadata, labels: { app: "mine" } },
    });
    await at.clock.advance(0);
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red"]);
    wanted = ["red"];
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["delete Secret home/green"]);
  });

  it("arrive as they were stated, with what makes them children", async () => {
    const metadata = { name: "s", labels: { app: "a" }, annotations: { mine: "too" } };
    await using at = await atWork(() => wanting(child(Secret, { metadata, stringData: { value: "1" } })));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    const ownerReferences = [expect.objectContaining({ kind: "ConfigMap", name: "a", controller: true })];
    expect(at.api.get(Secret, ref("s"))).toMatchObject({
      metadata: {
        ...metadata,
        annotations: { mine: "too", "applied-hash": expect.stringMatching(/^[0-9a-f]{16}$/) },
        ownerReferences,
      },
      stringData: { value: "1" },
    });
    expect(hashAnnotation({ ...ConfigMap, group: "example.com" })).toBe("example.com/applied-hash");
  });

  it.each([
    {
      name: "in another namespace",
      stray: child(Secret, { metadata: { name: "s", namespace: "away" } }),
      said: "Secret s: expected it in home, where its owner is, found it in away",
    },
    {
      name: "outside of namespaces",
      stray: child(Namespace, { metadata: { name: "n" } }),
      said: "Namespace n: expected it in home, where its owner is, found it outside of namespaces",
    },
  ])("$name would be collected at once: nothing is written", async ({ stray, said }) => {
    await using at = await atWork(() => wanting(stray));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect([at.world.writes, at.errors.join()]).toEqual([[], expect.stringContaining(said)]);
  });

  describe("that are there before", () => {
    const owned = (at: Awaited<ReturnType<typeof atWork>>, name: string, more: { controller?: boolean; gone?: string } = {}) => {
      const { uid } = (at.api.get(ConfigMap, ref("a")) ?? at.api.put(ConfigMap, config("a"))).metadata;
      const { controller = true, gone } = more;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, controller }];
      return { ...ref(name), ownerReferences, ...(gone !== undefined && { deletionTimestamp: gone }) };
    };

    it("and are being deleted are let go, and made again when they are gone", async () => {
      await using at = await atWork(() => colours(() => ["red"]));
      at.api.put(Secret, { metadata: owned(at, "red", { gone: "2026-01-01T00:00:00Z" }) });
      await at.start();
      expect([at.world.writes, notesOf(at)]).toEqual([
        [],
        ["Secret home/red is being deleted; it is made again when it is gone"],
      ]);
      at.api.remove(Secret, ref("red"));
      await at.clock.advance(0);
      expect(at.world.writes).toEqual(["apply Secret home/red"]);
    });

    it("are removed if they are wanted no more, each kind by itself; not those that are going, nor those that somebody else controls", async () => {
      await using at = await atWork(() => wanting(child(Secret, { metadata: { name: "same" } })));
      at.api.put(Pod, { metadata: owned(at, "same"), spec: { containers: [] } });
      at.api.put(Secret, { metadata: owned(at, "shared", { controller: false }) });
      at.api.put(Secret, { metadata: owned(at, "going", { gone: "2026-01-01T00:00:00Z" }) });
      await at.start();
      expect(at.world.writes).toEqual(["apply Secret home/same", "delete Pod home/same"]);
    });

    it("may be gone before they are removed", async () => {
      await using at = await atWork(() => wanting());
      at.api.put(Secret, { metadata: owned(at, "old") });
      at.world.spoil = () => {
        at.api.remove(Secret, ref("old"));
        return undefined;
      };
      await at.start();
      expect([at.world.writes, at.errors]).toEqual([["delete Secret home/old"], []]);
    });

    it("are looked at again if they have changed before they are removed", async () => {
      await using at = await atWork(() => wanting());
      at.api.put(Secret, { metadata: owned(at, "old") });
      at.world.spoil = () => {
        at.api.put(Secret, { metadata: owned(at, "old", { controller: false }) });
        return undefined;
      };
      await at.start();
      await at.clock.advance(60_000);
      expect(at.world.writes).toEqual(["delete Secret home/old"]);
      expect(at.api.get(Secret, ref("old"))).toBeDefined();
    });

    it("and cannot be removed are complained about", async () => {
      await using at = await atWork(() => wanting());
      at.api.put(Secret, { metadata: owned(at, "old") });
      at.world.spoil = forbid;
      await at.start();
      expect(at.errors.join()).toContain("ForbiddenError");
    });
  });

  it.each([
    { name: "namespace", kind: ConfigMap, namespace: "home" },
    { name: "cluster", kind: Node as Kind as typeof ConfigMap, namespace: undefined },
  ])("that change hands wake the owner that they have and the one that they had: owners of a $name", async (row) => {
    const { kind, namespace } = row;
    await using at = await atWork((ran) => controller(kind, { owns: [Secret] }, async (own) => noted(ran, keyOf(own))));
    const owners = ["a", "b"].map((name) =>
      at.api.put(kind, { metadata: namespace === undefined ? { name } : { name, namespace } }),
    );
    const ownedBy = (owner = owners[0]) => {
      const { name = "", uid = "" } = owner?.metadata ?? {};
      const reference = { apiVersion: "v1", kind: kind.kind, name, uid, controller: true };
      return { metadata: { ...ref("s"), ownerReferences: [reference] } };
    };
    at.api.put(Secret, ownedBy(owners[0]));
    await at.start();
    at.ran.length = 0;
    at.api.put(Secret, ownedBy(owners[1]));
    await at.clock.advance(0);
    expect(at.ran.toSorted()).toEqual(owners.map(({ metadata }) => keyOf(metadata)));
  });

  it("E1: are written once if the server makes something else of them", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    const put = at.api.put.bind(at.api);
    at.api.put = (kind, object) => put(kind, { ...object, stringData: undefined }); // as servers do
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(100 * 66_000);
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });

  it.each([
    { name: "labels", before: { metadata: { labels: { app: "a", tier: "b" } } }, after: { metadata: { labels: { app: "a" } } } },
    { name: "content", before: { data: { a: "1", b: "2" } }, after: { data: { a: "1" } } },
  ])("are applied again when less is wanted of them: $name", async ({ before, after }) => {
    let less: Secret = before;
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        const object = { ...less, metadata: { ...less.metadata, name: "s" } };
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object)]);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    less = after;
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/s", "apply Secret home/s"]);
  });

  it("of somebody else are never touched, even if the watch has not told of them yet", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    await at.start();
    at.api.muted = true;
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.muted = false;
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual([]);
    expect(at.errors.join()).toContain("ChildNotOursError: Secret home/red: expected it to be controlled by home/a");
  });

  it.each([
    { name: "a new one", before: false, said: "ChildNotOursError" },
    { name: "one that was ours", before: true, said: "" },
  ])("of somebody else are never touched, even if they come between our look and our write: $name", async ({ before, said }) => {
    let value = "1";
    await using at = await atWork(() => fixed("fail", () => value));
    at.api.put(ConfigMap, config("a"));
    if (before) await at.start();
    at.world.spoil = () => {
      at.api.remove(Secret, ref("s"));
      at.api.put(Secret, { metadata: ref("s"), data: { precious: "yes" } });
      return before ? undefined : refuse("only one reference can have controller set to true");
    };
    value = "2";
    if (before) at.runner.enqueue(ref("a"), "test");
    else await at.start();
    await at.clock.advance(0);
    expect(at.errors.join()).toContain(said);
    expect(at.api.get(Secret, ref("s"))).toEqual({ metadata: expect.anything(), data: { precious: "yes" } });
  });

  it("of somebody else do not keep their siblings waiting, and are made when they are out of the way", async () => {
    await using at = await atWork(() => colours(() => ["red", "green", "blue"]));
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.put(Secret, { metadata: ref("blue"), data: { precious: "yes" } });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/green"]);
    expect(at.errors.at(-1)).toMatch(/SeveralChildrenError: 2 children: Secret home\/red: .*; Secret home\/blue: /);
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "still" } });
    await at.clock.advance(0);
    expect(at.runner.explain(ref("a")).flatMap(({ because }) => because)).not.toContain("Secret home/red is out of the way");
    at.api.remove(Secret, ref("red"));
    await at.clock.advance(0);
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red"]);
    at.api.remove(Secret, ref("blue"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/blue"]);
    expect(at.runner.explain(ref("a")).flatMap(({ because }) => because)).toContain("Secret home/blue is out of the way");
  });

  it.each([
    { name: "InvalidError", refused: () => refuse("not that colour") },
    { name: "ForbiddenError", refused: forbid },
  ])("that are refused by the server do not keep their siblings waiting, either: $name", async ({ name, refused }) => {
    await using at = await atWork(() => colours(() => ["red", "green"]));
    at.world.spoil = (write) => (write.includes("red") ? refused() : undefined);
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.slice(0, 2)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    expect(at.errors.join()).toContain(name);
    expect(notesOf(at)).not.toEqual([]);
  });

  it("whose namespace is not there yet do not keep their siblings waiting, either", async () => {
    await using at = await atWork(() => colours(() => ["red", "green"]));
    const gone = { attempt: "scripted", status: 404, reason: "NotFound", message: 'namespaces "x" not found' };
    at.world.spoil = (write) => {
      if (write.includes("red")) throw new NotFoundError(gone);
    };
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.slice(0, 2)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    expect(at.errors.join()).toContain("NotFoundError");
  });

  it("E1: of one name that are wanted differently are refused, and not written over each other for ever", async () => {
    let values = ["1", "2"];
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        const children = values.map((value) => child(Secret, { metadata: { name: "s" }, stringData: { value } }));
        if (owner !== undefined) await ctx.applyChildren(owner, children);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect([at.world.writes, at.errors]).toEqual([[], [expect.stringContaining("Secret home/s: expected to be wanted once")]]);
    values = ["1", "1"];
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/s"]);
  });

  it("of an owner without a namespace must say in which they are", async () => {
    await using at = await atWork(() =>
      controller(Namespace, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(Namespace, own);
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, { metadata: { name: "s" } })]);
        return done();
      }),
    );
    at.api.put(Namespace, { metadata: { name: "a" } });
    await at.start();
    await at.clock.advance(600_000);
    expect(at.errors).toEqual([
      expect.stringContaining("PermanentError: Secret s: expected a namespace, since its owner a is in none"),
    ]);
  });

  it("wait for a server that is down, all of them", async () => {
    await using at = await atWork(() => colours(() => ["red", "green"]));
    at.world.spoil = () => loseAnswer();
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });

  it.each([
    {
      name: "that cannot be changed are replaced if they say so",
      how: "replace",
      said: "field is immutable",
      after: ["delete", "apply"],
    },
    { name: "that cannot be changed are stuck otherwise", how: "fail", said: "field is immutable", after: [] },
    {
      name: "that are wrong are not replaced: the next would be wrong, too",
      how: "replace",
      said: "must be a number",
      after: [],
    },
    {
      name: "that are wrong and cannot be changed are not replaced, either",
      how: "replace",
      said: "field is immutable, must be a number",
      causes: ["field is immutable", "must be a number"],
      after: [],
    },
    {
      name: "that cannot be changed are replaced where the server says so in one sentence",
      how: "replace",
      said: "updates to statefulset spec are forbidden",
      causes: [],
      after: ["delete", "apply"],
    },
    {
      name: "that are wrong, says the server in one sentence, are not replaced",
      how: "replace",
      said: "must be a number",
      causes: [],
      after: [],
    },
  ] as const)("$name", async ({ how, said, after, ...more }) => {
    let value = "1";
    await using at = await atWork(() => fixed(how, () => value));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    at.world.writes.splice(0);
    at.world.spoil = () => {
      at.world.spoil = () => undefined;
      return refuse(said, "causes" in more ? more.causes : [said]);
    };
    value = "2";
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes.map((write) => write.split(" ")[0])).toEqual(["apply", ...after]);
    expect(notesOf(at).some((note) => note.includes("cannot be changed as wanted"))).toBe(after.length > 0);
  });

  it("W4: of a deleted namesake of their owner are waited for, not fought over", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    at.api.remove(ConfigMap, ref("a"));
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect([at.world.writes, at.errors]).toEqual([["apply Secret home/red"], []]);
    expect(notesOf(at).join()).toContain("Secret home/red belongs to a deleted namesake of its owner");
    at.api.remove(Secret, ref("red")); // the garbage collector
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/red", "apply Secret home/red"]);
    const owner = at.api.get(ConfigMap, ref("a"))?.metadata.uid;
    expect(at.api.get(Secret, ref("red"))?.metadata.ownerReferences?.[0]?.uid).toBe(owner);
  });

  it.each([
    { name: "a living namesake in another group", apiVersion: "example.com/v1", owner: "a" },
    { name: "another object of their owner's kind", apiVersion: "v1", owner: "b" },
  ])("W4: of $name are a stranger's: that is said, and they are made when it has gone", async ({ apiVersion, owner }) => {
    await using at = await atWork(() => colours(() => ["red"]));
    const stranger = { apiVersion, kind: "ConfigMap", name: owner, uid: "alive", controller: true };
    at.api.put(Secret, { metadata: { ...ref("red"), ownerReferences: [stranger] } });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect([at.world.writes, at.errors]).toEqual([[], [expect.stringContaining(`ConfigMap ${owner} (UID alive)`)]]);
    at.api.remove(Secret, ref("red"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });
});
