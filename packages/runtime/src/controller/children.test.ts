import { describe, expect, it } from "vitest";
import { ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import { ConfigMap, Namespace, Node, Secret } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { type Kind, keyOf } from "../objects/object.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { type Child, type ChildOptions, child, hashAnnotation } from "./children.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** Answers 422. */
function invalid(message: string): never {
  const details = { causes: [{ reason: "FieldValueInvalid", message, field: "data" }] };
  throw new InvalidError({ attempt: "scripted", status: 422, reason: "Invalid", message, details });
}

/** Answers 403. */
function forbid(): never {
  throw new ForbiddenError({ attempt: "scripted", status: 403, reason: "Forbidden", message: "you may not" });
}

const notesOf = ({ runner }: Awaited<ReturnType<typeof atWork>>) => runner.explain(ref("a")).flatMap(({ notes }) => notes);

/** Applies these children to every object. */
const wanting = (...children: readonly Child[]) =>
  controller(ConfigMap, { owns: [Secret, Pod] }, async (own, ctx) => {
    const owner = ctx.get(ConfigMap, own);
    if (owner !== undefined) await ctx.applyChildren(owner, children, { prune: [Secret, Pod] });
    return done();
  });

describe("applyChildren", () => {
  const colors = (wanted: () => readonly string[]) =>
    controller(ConfigMap, { owns: [Secret], resyncMs: 60_000 }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      if (owner === undefined) return done();
      const children = wanted().map((name) =>
        child(Secret, { metadata: { name, labels: { app: "colors" } }, stringData: { name } }),
      );
      await ctx.applyChildren(owner, children, { prune: [Secret] });
      return done();
    });

  const fixed = (options: ChildOptions, value: () => string) =>
    controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      const object = { metadata: { name: "s" }, stringData: { value: value() } };
      if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object, options)]);
      return done();
    });

  it("creates, keeps and deletes children; E1: writes nothing over 100 resyncs after that", async () => {
    let wanted = ["red", "green"];
    await using at = await atWork(() => colors(() => wanted));
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

  it("applies children as declared, plus owner reference and hash", async () => {
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
      said: "Secret s: expected the namespace of its owner, home, found away",
    },
    {
      name: "of a cluster-scoped kind",
      stray: child(Namespace, { metadata: { name: "n" } }),
      said: "Namespace n: expected the namespace of its owner, home, found a cluster-scoped kind",
    },
  ])("$name would be collected at once: nothing is written", async ({ stray, said }) => {
    await using at = await atWork(() => wanting(stray));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect([at.world.writes, at.errors.join()]).toEqual([[], expect.stringContaining(said)]);
  });

  describe("with existing objects", () => {
    const owned = (at: Awaited<ReturnType<typeof atWork>>, name: string, more: { controller?: boolean; gone?: string } = {}) => {
      const { uid } = (at.api.get(ConfigMap, ref("a")) ?? at.api.put(ConfigMap, config("a"))).metadata;
      const { controller = true, gone } = more;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, controller }];
      return { ...ref(name), ownerReferences, ...(gone !== undefined && { deletionTimestamp: gone }) };
    };

    it("waits for a child that is being deleted, and creates it again when it is gone", async () => {
      await using at = await atWork(() => colors(() => ["red"]));
      at.api.put(Secret, { metadata: owned(at, "red", { gone: "2026-01-01T00:00:00Z" }) });
      await at.start();
      expect([at.world.writes, notesOf(at)]).toEqual([
        [],
        ["Secret home/red is being deleted; creating it again when it is gone"],
      ]);
      at.api.remove(Secret, ref("red"));
      await at.clock.advance(0);
      expect(at.world.writes).toEqual(["apply Secret home/red"]);
    });

    it("deletes children that are no longer desired, per kind; not those being deleted, nor those that another owner controls", async () => {
      await using at = await atWork(() => wanting(child(Secret, { metadata: { name: "same" } })));
      at.api.put(Pod, { metadata: owned(at, "same"), spec: { containers: [] } });
      at.api.put(Secret, { metadata: owned(at, "shared", { controller: false }) });
      at.api.put(Secret, { metadata: owned(at, "going", { gone: "2026-01-01T00:00:00Z" }) });
      await at.start();
      expect(at.world.writes).toEqual(["apply Secret home/same", "delete Pod home/same"]);
    });

    it("accepts that a child is gone before its deletion", async () => {
      await using at = await atWork(() => wanting());
      at.api.put(Secret, { metadata: owned(at, "old") });
      at.world.spoil = () => {
        at.api.remove(Secret, ref("old"));
        return undefined;
      };
      await at.start();
      expect([at.world.writes, at.errors]).toEqual([["delete Secret home/old"], []]);
    });

    it("reconciles again if a child changed before its deletion", async () => {
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

    it("fails if a child cannot be deleted", async () => {
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
  ])("enqueues the new and the previous owner when a child changes its owner: owners in a $name", async (row) => {
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

  it("E1: writes a child once if the server stores it differently", async () => {
    await using at = await atWork(() => colors(() => ["red"]));
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

  it("never touches an object of another owner, even if the watch has not reported it yet", async () => {
    await using at = await atWork(() => colors(() => ["red"]));
    await at.start();
    at.api.muted = true;
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.muted = false;
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual([]);
    expect(at.errors.join()).toContain("AlreadyOwnedError: Secret home/red: expected it to be controlled by home/a");
  });

  it.each([
    { name: "a new one", before: false, said: "AlreadyOwnedError" },
    { name: "a former child", before: true, said: "" },
  ])("never touches an object of another owner that appears between our read and our write: $name", async ({ before, said }) => {
    let value = "1";
    await using at = await atWork(() => fixed({}, () => value));
    at.api.put(ConfigMap, config("a"));
    if (before) await at.start();
    at.world.spoil = () => {
      at.api.remove(Secret, ref("s"));
      at.api.put(Secret, { metadata: ref("s"), data: { precious: "yes" } });
      return before ? undefined : invalid("only one reference can have controller set to true");
    };
    value = "2";
    if (before) at.runner.enqueue(ref("a"), "test");
    else await at.start();
    await at.clock.advance(0);
    expect(at.errors.join()).toContain(said);
    expect(at.api.get(Secret, ref("s"))).toEqual({ metadata: expect.anything(), data: { precious: "yes" } });
  });

  it("applies the siblings of a child with a name conflict, and the child when the conflicting object is gone", async () => {
    await using at = await atWork(() => colors(() => ["red", "green", "blue"]));
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.put(Secret, { metadata: ref("blue"), data: { precious: "yes" } });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/green"]);
    expect(at.errors.at(-1)).toMatch(/AggregateChildError: 2 children: Secret home\/red: .*; Secret home\/blue: /);
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "still" } });
    await at.clock.advance(0);
    expect(at.runner.explain(ref("a")).flatMap(({ because }) => because)).not.toContain(
      "conflicting Secret home/red was removed",
    );
    at.api.remove(Secret, ref("red"));
    await at.clock.advance(0);
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red"]);
    at.api.remove(Secret, ref("blue"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/blue"]);
    expect(at.runner.explain(ref("a")).flatMap(({ because }) => because)).toContain("conflicting Secret home/blue was removed");
  });

  it.each([
    { name: "InvalidError", fail: () => invalid("not that color") },
    { name: "ForbiddenError", fail: forbid },
  ])("applies the siblings of a child that the server rejects: $name", async ({ name, fail }) => {
    await using at = await atWork(() => colors(() => ["red", "green"]));
    at.world.spoil = (write) => (write.includes("red") ? fail() : undefined);
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.slice(0, 2)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    expect(at.errors.join()).toContain(name);
    expect(notesOf(at)).not.toEqual([]);
  });

  it("applies the siblings of a child whose namespace does not exist yet", async () => {
    await using at = await atWork(() => colors(() => ["red", "green"]));
    const gone = { attempt: "scripted", status: 404, reason: "NotFound", message: 'namespaces "x" not found' };
    at.world.spoil = (write) => {
      if (write.includes("red")) throw new NotFoundError(gone);
    };
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.slice(0, 2)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    expect(at.errors.join()).toContain("NotFoundError");
  });

  it("E1: rejects two different children with one name instead of overwriting one by the other", async () => {
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
    expect([at.world.writes, at.errors]).toEqual([
      [],
      [expect.stringContaining("Secret home/s: expected one child with this name")],
    ]);
    values = ["1", "1"];
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/s"]);
  });

  it("rejects a child without a namespace if the owner is cluster-scoped", async () => {
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
      expect.stringContaining("TerminalError: Secret s: expected a namespace, because its owner a is cluster-scoped"),
    ]);
  });

  it("applies no sibling while the server is down", async () => {
    await using at = await atWork(() => colors(() => ["red", "green"]));
    at.world.spoil = () => loseAnswer();
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });

  it.each([
    {
      name: "replaces a child with a changed immutable field if replace is set",
      how: { replace: "background" },
      after: ["try", "delete", "apply"],
    },
    { name: "fails on a changed immutable field otherwise", how: {}, after: [] },
    {
      name: "does not replace an invalid child: its replacement would be invalid, too",
      how: { replace: "background" },
      wrong: () => invalid("must be a number"),
      after: ["try"],
    },
    {
      name: "does not replace a child that could not be created again because of an admission policy or a quota",
      how: { replace: "background" },
      wrong: forbid,
      after: ["try"],
    },
  ] as const)("$name, whatever the server's words are", async ({ how, after, ...more }) => {
    for (const words of ["field is immutable", "updates to statefulset spec are forbidden", "must be a number", ""]) {
      let value = "1";
      await using at = await atWork(() => fixed(how, () => value));
      at.api.put(ConfigMap, config("a"));
      await at.start();
      at.world.writes.splice(0);
      at.world.spoil = (write) => {
        if (write.startsWith("try") && "wrong" in more) more.wrong();
        return write.startsWith("apply") && at.world.writes.length === 1 ? invalid(words) : undefined;
      };
      value = "2";
      at.runner.enqueue(ref("a"), "test");
      await at.clock.advance(0);
      expect(at.world.writes.map((write) => write.split(" ")[0])).toEqual(["apply", ...after]);
      expect(notesOf(at).some((note) => note.includes("has an immutable field that must change"))).toBe(after.length > 1);
    }
  });

  describe("in the mode once", () => {
    const once = (adopt = false) =>
      controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        const object = { metadata: { name: "s" }, stringData: { value: "generated" } };
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object, { mode: "once", adopt })]);
        return done();
      });

    it("W1: creates nothing and changes nothing if the cache has not seen the child yet", async () => {
      await using at = await atWork(() => once());
      const { uid } = at.api.put(ConfigMap, config("a")).metadata;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, controller: true }];
      at.world.spoil = (write) => {
        if (write.startsWith("create") && at.api.get(Secret, ref("s")) === undefined)
          at.api.put(Secret, { metadata: { ...ref("s"), ownerReferences }, data: { value: "first" } }); // another leader
        return undefined;
      };
      await at.start();
      await at.clock.advance(60_000);
      expect([at.world.writes, at.errors]).toEqual([["create Secret home/s"], []]);
      expect(at.api.get(Secret, ref("s"))?.data).toEqual({ value: "first" });
    });

    it("reports an object of another owner, and adopts one without on request, without changing its content", async () => {
      for (const adopt of [false, true]) {
        await using at = await atWork(() => once(adopt));
        at.api.put(Secret, { metadata: ref("s"), data: { value: "theirs" } });
        const { uid } = at.api.put(ConfigMap, config("a")).metadata;
        await at.start();
        const { metadata, data } = at.api.get(Secret, ref("s")) ?? {};
        expect([data, metadata?.ownerReferences?.[0]?.uid]).toEqual([{ value: "theirs" }, adopt ? uid : undefined]);
        expect(at.errors.join().includes("AlreadyOwnedError")).toBe(!adopt);
      }
    });
  });

  it("E1: writes a child with another desired state on every reconcile 20 times at once, and then every 10 s", async () => {
    let count = 0;
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        const object = { metadata: { name: "s" }, stringData: { value: `${count++}` } };
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object)]);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(1_000);
    expect(at.world.writes.splice(0).length).toBe(1 + 20);
    expect(at.events.at(-1)).toMatchObject({ reason: "UnstableChild", message: expect.stringContaining("$.stringData.value") });
    await at.clock.advance(100_000);
    expect(at.world.writes.length).toBe(10);
  });

  it("E1: slows down the replacement of a child with another immutable field on every reconcile", async () => {
    let count = 0;
    await using at = await atWork(() => fixed({ replace: "background" }, () => `${count++}`));
    at.world.spoil = (write) =>
      write.startsWith("apply") && at.api.get(Secret, ref("s")) !== undefined ? invalid("field is immutable") : undefined;
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(1_000);
    expect(at.world.writes.filter((write) => write.startsWith("delete")).length).toBe(20);
    expect(at.events.at(-1)).toMatchObject({ reason: "UnstableChild" });
  });

  it("W4: waits for the garbage collection of children of a deleted owner with the same name", async () => {
    await using at = await atWork(() => colors(() => ["red"]));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    at.api.remove(ConfigMap, ref("a"));
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect([at.world.writes, at.errors]).toEqual([["apply Secret home/red"], []]);
    expect(notesOf(at).join()).toContain("Secret home/red belongs to a deleted owner with the same name");
    at.api.remove(Secret, ref("red")); // the garbage collector
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/red", "apply Secret home/red"]);
    const owner = at.api.get(ConfigMap, ref("a"))?.metadata.uid;
    expect(at.api.get(Secret, ref("red"))?.metadata.ownerReferences?.[0]?.uid).toBe(owner);
  });

  it.each([
    { name: "a live owner with the same name in another group", apiVersion: "example.com/v1", owner: "a" },
    { name: "another object of their owner's kind", apiVersion: "v1", owner: "b" },
  ])(
    "W4: reports a name conflict with a child of $name, and creates the child when that is gone",
    async ({ apiVersion, owner }) => {
      await using at = await atWork(() => colors(() => ["red"]));
      const otherOwner = { apiVersion, kind: "ConfigMap", name: owner, uid: "alive", controller: true };
      at.api.put(Secret, { metadata: { ...ref("red"), ownerReferences: [otherOwner] } });
      at.api.put(ConfigMap, config("a"));
      await at.start();
      expect([at.world.writes, at.errors]).toEqual([[], [expect.stringContaining(`ConfigMap ${owner} (UID alive)`)]]);
      at.api.remove(Secret, ref("red"));
      await at.clock.advance(0);
      expect(at.world.writes).toEqual(["apply Secret home/red"]);
    },
  );
});
