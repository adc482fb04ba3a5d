// What each mode and option of a child does on an API server: defaults, allocated values, managed fields, garbage collection and
// immutable fields are the server's.
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Client } from "../client/client.ts";
import { ConfigMap, Secret, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { Job, StatefulSet } from "../objects/kinds/workloads.ts";
import { controllerOf, type Kind, type KubernetesObject, ownerReferenceTo, type Stored } from "../objects/object.ts";
import { eventually } from "../testing/eventually.ts";
import { absent, after, type Child, child, keep, release } from "./children.ts";
import { Choir, type Performance, stage } from "./choir.fixture.ts";
import { controller } from "./controller.ts";
import { declarative, type Wanted } from "./declarative.ts";
import { awaitChange, done } from "./outcome.ts";

const owns = [ConfigMap, Secret, Service, Job, Pod, StatefulSet] as const;

/** A controller that wants these children of every choir. */
const wanting = (children: (choir: Stored<Choir>) => readonly Child[], more: Partial<Wanted<typeof Choir>> = {}) =>
  declarative(Choir, { owns, resyncMs: 0 }, (choir) => ({
    children: children(choir),
    status: { singers: choir.spec.singers, conditions: [] },
    ...more,
  }));

type Stage = Awaited<ReturnType<typeof stage>>;

/** Waits until the controller has reported the current generation. */
const reported = (on: Stage) =>
  eventually(
    () => on.get("a"),
    (choir) => choir?.status !== undefined && choir.status.observedGeneration === choir.metadata.generation,
  );

/** Reads an object until the condition holds. */
function becomes<T extends KubernetesObject>(on: Stage, kind: Kind<T>, name: string, holds: (object: Stored<T>) => boolean) {
  const read = () => on.client.find(kind, { namespace: on.namespace, name });
  return eventually(read, (object) => object !== undefined && holds(object)).then((object) => object as Stored<T>);
}

const exists = <T extends KubernetesObject>(on: Stage, kind: Kind<T>, name: string) => becomes(on, kind, name, () => true);
const gone = (client: Client, kind: Kind, ref: { namespace: string; name: string }) =>
  eventually(
    () => client.find(kind, ref),
    (object) => object === undefined,
  );

const song = (name: string, data: Record<string, string>) => ({ metadata: { name }, data });
const writesTo = ({ journal }: Performance, part: string) => journal.writes.filter(({ path }) => path.includes(part));
const template = (app: string, image: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image }], restartPolicy: "Never" as const, schedulerName: "nobody" },
});

describe("a child in the mode once", () => {
  const password = ({ metadata }: Stored<Choir>) =>
    child(Secret, { metadata: { name: `${metadata.name}-password` }, stringData: { value: randomUUID() } }, { mode: "once" });

  it("L1: is created once by two leaders, and never changed, not even by a restart or an edit", async () => {
    await using on = await stage();
    const performances = [
      await on.perform(wanting((choir) => [password(choir)])),
      await on.perform(wanting((c) => [password(c)])),
    ];
    await on.put("a", {});
    const first = await exists(on, Secret, "a-password");
    const edit = { type: "merge", body: { data: { mine: "dG9v" } } } as const;
    await on.client.patch(Secret, first.metadata, edit);
    await on.perform(wanting((choir) => [password(choir)]));
    await on.put("a", { song: "another" });
    await reported(on);
    const last = await exists(on, Secret, "a-password");
    expect(last.data).toEqual({ ...first.data, mine: "dG9v" });
    expect(last.metadata.uid).toBe(first.metadata.uid);
    const created = performances.flatMap((each) => writesTo(each, "/secrets").filter(({ status }) => status === 201));
    expect(created.length).toBe(1);
  });

  it("A1: can be a Job whose template changes with the spec of its owner", async () => {
    await using on = await stage();
    const init = (choir: Stored<Choir>) =>
      child(Job, { metadata: { name: "init" }, spec: { template: template("init", choir.spec.song) } }, { mode: "once" });
    await using performance = await on.perform(wanting((choir) => [init(choir)]));
    await on.put("a", { song: "one" });
    await exists(on, Job, "init");
    await on.put("a", { song: "two" });
    await reported(on);
    const job = await exists(on, Job, "init");
    expect([job.spec?.template.spec?.containers[0]?.image, performance.errors]).toEqual(["one", []]);
  });

  it("is created again after its deletion", async () => {
    await using on = await stage();
    await on.perform(wanting((choir) => [password(choir)]));
    await on.put("a", {});
    const first = await exists(on, Secret, "a-password");
    await on.client.delete(Secret, first.metadata);
    await becomes(on, Secret, "a-password", ({ metadata }) => metadata.uid !== first.metadata.uid);
  });
});

describe("foreign fields of a child", () => {
  const service = (mode: "exact" | "merge") =>
    child(
      Service,
      { metadata: { name: "s" }, spec: { selector: { app: "s" }, ports: [{ name: "main", port: 5432 }] } },
      { mode },
    );
  const words = (mode: "exact" | "merge") => child(ConfigMap, song("words", { la: "la" }), { mode });

  it("are removed in the mode exact, though a server-side apply alone could not; what the server allocated stays", async () => {
    await using on = await stage();
    await using performance = await on.perform(wanting(() => [service("exact"), words("exact")]));
    await on.put("a", {});
    const before = await exists(on, Service, "s");
    await exists(on, ConfigMap, "words");
    const port = { type: "merge", body: { spec: { ports: [{ name: "main", port: 9999 }] } } } as const;
    await on.client.patch(Service, before.metadata, port);
    const isOurs = ({ spec }: Service) => spec?.ports?.length === 1 && spec.ports[0]?.port === 5432;
    const after = await becomes(on, Service, "s", isOurs);
    expect([after.spec?.clusterIP, after.metadata.uid]).toEqual([before.spec?.clusterIP, before.metadata.uid]);
    const key = { type: "merge", body: { data: { foreign: "yes" }, metadata: { labels: { theirs: "stays" } } } } as const;
    await on.client.patch(ConfigMap, { namespace: on.namespace, name: "words" }, key);
    const repaired = await becomes(on, ConfigMap, "words", ({ data }) => data?.foreign === undefined);
    expect([repaired.data, repaired.metadata.labels]).toEqual([{ la: "la" }, { theirs: "stays" }]);
    expect(performance.errors).toEqual([]);
  });

  it("E1: a child in the mode exact with defaults and allocated values is written once, also after a restart", async () => {
    await using on = await stage();
    const first = await on.perform(wanting(() => [service("exact")]));
    await on.put("a", {});
    await reported(on);
    await on.put("a", { song: "another" });
    await reported(on);
    expect(writesTo(first, "/services").length).toBe(1);
    await first.stop();
    const second = await on.perform(wanting(() => [service("exact")]));
    await on.put("a", { song: "a third" });
    await reported(on);
    expect(writesTo(second, "/services").length).toBe(0);
  });

  it("stay in the mode merge", async () => {
    await using on = await stage();
    await on.perform(wanting((choir) => [child(ConfigMap, song("words", { la: choir.spec.song }))]));
    await on.put("a", { song: "one" });
    const { metadata } = await exists(on, ConfigMap, "words");
    await on.client.patch(ConfigMap, metadata, { type: "merge", body: { data: { foreign: "yes" } } });
    await on.put("a", { song: "two" });
    const changed = await becomes(on, ConfigMap, "words", ({ data }) => data?.la === "two");
    expect(changed.data).toEqual({ la: "two", foreign: "yes" });
  });
});

describe("a child that is not in the list", () => {
  const both = () => [child(ConfigMap, song("x", {})), child(ConfigMap, song("y", {}))];
  const cases: {
    name: string;
    later: (all: readonly ReturnType<typeof child>[]) => Partial<Wanted<typeof Choir>>;
    left: string;
  }[] = [
    { name: "stays without prune", later: () => ({ children: [] }), left: "x y" },
    { name: "is deleted if its kind is pruned", later: ([x]) => ({ children: [x as Child], prune: [ConfigMap] }), left: "x" },
    { name: "stays if another kind is pruned", later: ([x]) => ({ children: [x as Child], prune: [Secret] }), left: "x y" },
    {
      name: "stays with keep and with after, though its kind is pruned",
      later: ([, y]) => ({ children: [keep(ConfigMap, { name: "x" }), after(false, y as never)], prune: [ConfigMap] }),
      left: "x y",
    },
    { name: "is deleted if it is declared absent", later: () => ({ children: [absent(ConfigMap, { name: "y" })] }), left: "x" },
  ];
  it.each(cases)("$name", async ({ later, left }) => {
    await using on = await stage();
    await on.perform(
      declarative(Choir, { owns: [ConfigMap, Secret], resyncMs: 0 }, ({ spec }) => {
        const status = { singers: spec.singers, conditions: [] };
        return spec.song === "all" ? { children: both(), status } : { children: [], status, ...later(both()) };
      }),
    );
    await on.put("a", { song: "all" });
    await reported(on);
    await on.put("a", { song: "fewer" });
    await reported(on);
    const names = (await on.singers("a"))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((s) => s.metadata.name);
    expect(names.sort().join(" ")).toBe(left);
  });

  it("a child with a condition is created when the condition is met, and stays when it is not met any more", async () => {
    await using on = await stage();
    const controller = wanting((c) => [after(c.spec.song === "go", child(ConfigMap, song("x", {})), "the song")], {
      prune: [ConfigMap],
    });
    await using performance = await on.perform(controller);
    await on.put("a", { song: "wait" });
    await reported(on);
    expect(await on.singers("a")).toEqual([]);
    const notes = performance.runner.explain({ namespace: on.namespace, name: "a" }).flatMap(({ notes }) => notes);
    expect(notes.join()).toContain("is not applied yet: waits for the song");
    await on.put("a", { song: "go" });
    const { metadata } = await exists(on, ConfigMap, "x");
    await on.put("a", { song: "wait" });
    await reported(on);
    expect((await exists(on, ConfigMap, "x")).metadata.uid).toBe(metadata.uid);
  });
});

describe("a tracked child", () => {
  it("is there for the finalizer of an owner that is deleted in the foreground, and is deleted by it", async () => {
    await using on = await stage();
    const found: unknown[] = [];
    const finalizer = "runtime-test.example.com/last";
    const foreground = { propagationPolicy: "Foreground" } as const;
    await on.perform(
      controller(
        Choir,
        {
          owns: [ConfigMap],
          finalizer: {
            name: finalizer,
            async cleanUp(choir, ctx) {
              // The garbage collector has removed the owned child before the finalizer is done: that is what tracking is for.
              if (ctx.get(ConfigMap, { namespace: on.namespace, name: "owned" }))
                return awaitChange("the owned child goes first");
              found.push(...(ctx.list(ConfigMap, { ownedBy: choir }).length === 1 ? ["data"] : []));
              await ctx.applyChildren(choir, [], { prune: [ConfigMap] });
              return done();
            },
          },
        },
        async (ref, ctx) => {
          const choir = ctx.get(Choir, ref);
          if (choir === undefined) return done();
          const data = child(ConfigMap, song("data", { precious: "yes" }), { tracked: true });
          await ctx.applyChildren(choir, [data, child(ConfigMap, song("owned", {}))]);
          return done();
        },
      ),
    );
    await on.put("a", {});
    await exists(on, ConfigMap, "owned");
    const data = await exists(on, ConfigMap, "data");
    expect(data.metadata.ownerReferences).toBeUndefined();
    await on.client.delete(Choir, { namespace: on.namespace, name: "a" }, foreground);
    await gone(on.client, Choir, { namespace: on.namespace, name: "a" });
    expect(found).toEqual(["data"]);
    await gone(on.client, ConfigMap, { namespace: on.namespace, name: "data" });
  });

  it("is repaired after an edit, and found by prune", async () => {
    await using on = await stage();
    const data = child(ConfigMap, song("data", { la: "la" }), { tracked: true });
    await on.perform(wanting((choir) => (choir.spec.singers > 0 ? [data] : []), { prune: [ConfigMap] }));
    await on.put("a", { singers: 1 });
    const { metadata } = await exists(on, ConfigMap, "data");
    await on.client.patch(ConfigMap, metadata, { type: "merge", body: { data: { la: "edited" } } });
    await becomes(on, ConfigMap, "data", (map) => map.data?.la === "la");
    await on.put("a", { singers: 0 });
    await gone(on.client, ConfigMap, { namespace: on.namespace, name: "data" });
  });
});

describe("an existing object with the name of a child", () => {
  const words = child(ConfigMap, song("words", { la: "la" }), { adopt: true });

  it("is adopted if no controller owns it, also after it lost its owner reference", async () => {
    await using on = await stage();
    const restored = await on.client.create(ConfigMap, {
      metadata: { namespace: on.namespace, name: "words" },
      data: { la: "old", more: "stays" },
    });
    await on.perform(wanting(() => [words]));
    const choir = await on.put("a", {});
    const isOurs = (object: KubernetesObject) => controllerOf(object)?.uid === choir.metadata.uid;
    const adopted = await becomes(on, ConfigMap, "words", isOurs);
    expect([adopted.metadata.uid, adopted.data]).toEqual([restored.metadata.uid, { la: "la", more: "stays" }]);
    const without = { type: "merge", body: { metadata: { ownerReferences: [] } } } as const;
    await on.client.patch(ConfigMap, restored.metadata, without);
    await becomes(on, ConfigMap, "words", isOurs);
  });

  it("is not adopted while another controller owns it, but when that releases it", async () => {
    await using on = await stage();
    const other = await on.client.create(ConfigMap, { metadata: { namespace: on.namespace, name: "other" } });
    const ownerReferences = [ownerReferenceTo(other, ConfigMap)];
    const { metadata } = await on.client.create(ConfigMap, {
      metadata: { namespace: on.namespace, name: "words", ownerReferences },
    });
    await using performance = await on.perform(wanting(() => [words]));
    const choir = await on.put("a", {});
    await eventually(
      () => performance.errors.join(),
      (errors) => errors.includes("AlreadyOwnedError"),
    );
    await on.client.patch(ConfigMap, metadata, { type: "merge", body: { metadata: { ownerReferences: [] } } });
    await becomes(on, ConfigMap, "words", (object) => controllerOf(object)?.uid === choir.metadata.uid);
  });

  it("outlives its owner after its release", async () => {
    await using on = await stage();
    const tracked = child(ConfigMap, song("tracked", {}), { tracked: true });
    await on.perform(
      wanting(({ spec }) =>
        spec.song === "release"
          ? [release(ConfigMap, { name: "words" }), release(ConfigMap, { name: "tracked" })]
          : [words, tracked],
      ),
    );
    await on.put("a", {});
    const before = [await exists(on, ConfigMap, "words"), await exists(on, ConfigMap, "tracked")];
    await on.put("a", { song: "release" });
    const released = [
      await becomes(on, ConfigMap, "words", (object) => controllerOf(object) === undefined),
      await becomes(on, ConfigMap, "tracked", ({ metadata }) => Object.keys(metadata.labels ?? {}).length === 0),
    ];
    expect(released.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
    expect(released.map(({ metadata }) => Object.keys(metadata.annotations ?? {}))).toEqual([[], []]);
    await on.remove("a");
    await gone(on.client, Choir, { namespace: on.namespace, name: "a" });
    await exists(on, ConfigMap, "words");
  });
});

describe("a child with a changed immutable field", () => {
  it("is replaced in the background with what it owns", async () => {
    await using on = await stage();
    const singer = (choir: Stored<Choir>) => {
      const spec = {
        ...template("singer", "singer").spec,
        containers: [{ name: "c", image: "i", env: [{ name: "SONG", value: choir.spec.song }] }],
      };
      return child(Pod, { metadata: { name: "singer" }, spec: { ...spec, restartPolicy: "Never" } }, { replace: "background" });
    };
    await on.perform(wanting((choir) => [singer(choir)]));
    const singing = (value: string) => becomes(on, Pod, "singer", (pod) => pod.spec?.containers[0]?.env?.[0]?.value === value);
    await on.put("a", { song: "la" });
    const first = await singing("la");
    await on.put("a", { song: "lalala" });
    const second = await singing("lalala");
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });

  it("is replaced as an orphan: the pods of a StatefulSet go on, and the new one adopts them", async () => {
    await using on = await stage();
    const set = (choir: Stored<Choir>) => {
      const resources = { requests: { storage: `${choir.spec.singers}Gi` } };
      const claim = {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"] as const, storageClassName: "", resources },
      };
      const { restartPolicy: _, ...spec } = template("db", "db").spec;
      return child(
        StatefulSet,
        {
          metadata: { name: "db" },
          spec: {
            ...{ replicas: 1, serviceName: "db", selector: { matchLabels: { app: "db" } } },
            template: { metadata: { labels: { app: "db" } }, spec },
            volumeClaimTemplates: [claim],
          },
        },
        { replace: "orphan" },
      );
    };
    await on.perform(wanting((choir) => [set(choir)]));
    await on.put("a", { singers: 1 });
    const pod = await exists(on, Pod, "db-0");
    const first = await exists(on, StatefulSet, "db");
    await on.put("a", { singers: 2 });
    const second = await becomes(on, StatefulSet, "db", ({ metadata }) => metadata.uid !== first.metadata.uid);
    const adopted = await becomes(on, Pod, "db-0", (each) => controllerOf(each)?.uid === second.metadata.uid);
    expect(adopted.metadata.uid).toBe(pod.metadata.uid);
  });
});

describe("a child whose desired state is different on every reconcile", () => {
  it("is slowed down and named in an Event; its siblings are applied", async () => {
    await using on = await stage();
    const unstable = () => child(ConfigMap, song("unstable", { value: randomUUID() }));
    await using performance = await on.perform(wanting(() => [unstable(), child(ConfigMap, song("stable", {}))]));
    await on.put("a", {});
    const [event] = await eventually(
      () => performance.events.filter(({ reason }) => reason === "UnstableChild"),
      (events) => events.length > 0,
    );
    expect(event?.message).toContain(`ConfigMap ${on.namespace}/unstable: expected a stable desired state`);
    expect(event?.message).toContain("$.data.value");
    expect(writesTo(performance, "/configmaps/unstable").length).toBeLessThanOrEqual(22);
    await exists(on, ConfigMap, "stable");
  });
});
