// Hooks on an API server: related objects, attachments, updates in place, and a rolling update by operators that are killed at every
// write.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Controller } from "../controller/controller.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { defineResource } from "../schema/define-resource.ts";
import { labelSelector } from "../schema/fields.ts";
import { installCrds } from "../schema/install.ts";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import { killAtEveryWrite, moments, startOperator } from "../testing/start-operator.ts";
import { compositeController } from "./composite.ts";
import { decoratorController } from "./decorator.ts";
import type { CompositeRequest } from "./hook.ts";

const names = { group: "hooks-test.example.com", version: "v1" };

const Litter = defineResource({
  ...{ ...names, kind: "Litter" },
  spec: z.object({
    kittens: z.int().min(0).max(9),
    color: z.string().max(20),
    toys: z.string().max(63),
    selector: labelSelector(),
  }),
  status: z.looseObject({}),
  conditions: { Updated: ["OnLatestRevision", "RolloutWaiting", "RolloutProgressing"] },
});

const Kitten = defineResource({
  ...{ ...names, kind: "Kitten" },
  spec: z.object({ color: z.string().max(20) }),
  conditions: { Ready: { True: ["Fed"] } },
});

function sync({ parent, children, related, finalizing }: CompositeRequest) {
  const { kittens, color, toys, selector } = parent.spec;
  const labels = selector.matchLabels;
  const indexes = finalizing ? [] : Array.from({ length: kittens }, (_, index) => index);
  const kitten = (index: number) => ({
    ...{ apiVersion: "hooks-test.example.com/v1", kind: "Kitten", spec: { color } },
    metadata: { name: `${parent.metadata.name}-${index}`, labels },
  });
  const data = related["ConfigMap.v1"]?.[toys]?.data ?? {};
  const box = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${parent.metadata.name}-box`, labels }, data };
  const there = Object.values(children["Kitten.hooks-test.example.com/v1"] ?? {});
  return {
    status: { kittens: there.length, colors: there.map(({ spec }) => spec.color) },
    children: finalizing ? [] : [box, ...indexes.map(kitten)],
    finalized: there.length === 0,
  };
}

const litters = compositeController({
  name: "litter-controller",
  parent: { kind: Litter, revisionHistory: { fieldPaths: ["spec.color"] } },
  children: [
    {
      kind: Kitten,
      updateStrategy: { method: "RollingRecreate", statusChecks: { conditions: [{ type: "Ready", status: "True" }] } },
    },
    { kind: ConfigMap, updateStrategy: { method: "InPlace" } },
  ],
  related: [ConfigMap],
  hooks: {
    sync,
    finalize: sync,
    customize: ({ parent }) => ({ relatedResources: [{ apiVersion: "v1", resource: "configmaps", names: [parent.spec.toys] }] }),
  },
});

/** Kittens with a collar get a tag, a label and an annotation. */
const tags = decoratorController({
  name: "tag-controller",
  resources: [{ kind: Kitten, labelSelector: { matchExpressions: [{ key: "collar", operator: "Exists" }] } }],
  attachments: [{ kind: ConfigMap, updateStrategy: { method: "InPlace" } }],
  hooks: {
    sync: ({ object: { metadata, spec } }) => ({
      labels: { tagged: "yes" },
      annotations: { color: spec.color },
      attachments: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${metadata.name}-tag` }, data: spec }],
    }),
    finalize: ({ attachments }) => ({
      labels: { tagged: null },
      attachments: [],
      finalized: Object.keys(attachments["ConfigMap.v1"] ?? {}).length === 0,
    }),
  },
});

async function stage() {
  const closing = new AsyncDisposableStack();
  const cluster = closing.use(await testCluster());
  const client = closing.use(await clientOf(cluster));
  await installCrds(client, [Litter, Kitten], { clock: quick.environment.clock });
  const namespace = cluster.defaultNamespace;
  const ref = { namespace, name: "tom" };
  const put = (color: string) =>
    client.apply(
      Litter,
      { metadata: ref, spec: { kittens: 3, color, toys: "toys", selector: { matchLabels: { of: "tom" } } } },
      { fieldManager: "test", force: true },
    );
  const run = async (...controllers: readonly Controller[]) =>
    closing.use(await startOperator({ name: "litters", controllers, kubeconfig: cluster.kubeconfig, namespaces: [namespace] }));
  const start = () => run(litters);
  const kittens = async () => (await client.list(Kitten, { namespace })).items;
  /** Waits until all kittens are of this color, and the status reports it. */
  const settled = (color: string) =>
    eventually(
      () => client.find(Litter, ref),
      (litter) => {
        const { colors } = (litter?.status ?? {}) as { readonly colors?: readonly string[] };
        const [updated] = litter?.status?.conditions ?? [];
        return colors?.join() === [color, color, color].join() && updated?.reason === "OnLatestRevision";
      },
      { timeoutMs: 40_000 },
    );
  const boxOf = () => client.find(ConfigMap, { namespace, name: "tom-box" });
  return {
    client,
    namespace,
    ref,
    put,
    run,
    start,
    kittens,
    settled,
    boxOf,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** Plays the controller of kittens: every new one gets ready. Counts how often each was made. */
function nursery(on: Stage) {
  const ending = new AbortController();
  const born: string[] = [];
  const ready = { type: "Ready", status: "True", reason: "Fed", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const watching = (async () => {
    const options = { namespace: on.namespace, sendInitialEvents: true, signal: ending.signal };
    for await (const event of on.client.watch(Kitten, options)) {
      if (event.type !== "ADDED") continue;
      born.push(`${event.object.metadata.name} ${event.object.spec.color}`);
      const body = { status: { conditions: [ready] } };
      await on.client.patch(Kitten, event.object.metadata, { type: "merge", body }, { subresource: "status" }).catch(() => {});
    }
  })().catch(() => {});
  const close = async () => {
    ending.abort();
    await watching;
  };
  return { born, [Symbol.asyncDispose]: close };
}

const all = (color: string) => ["tom-0", "tom-1", "tom-2"].map((name) => `${name} ${color}`);

describe("a composite controller", () => {
  it("rolls out, follows related objects, leaves the fields of others alone, and finalizes", async () => {
    await using on = await stage();
    await using seen = nursery(on);
    const toys = { namespace: on.namespace, name: "toys" };
    await on.client.create(ConfigMap, { metadata: toys, data: { ball: "red" } });
    await on.put("black");
    const operator = await on.start();
    await on.settled("black");
    expect((await on.boxOf())?.data).toEqual({ ball: "red" });
    await on.client.patch(ConfigMap, toys, { type: "merge", body: { data: { ball: "blue" } } });
    await eventually(on.boxOf, (box) => box?.data?.ball === "blue");

    await on.put("white");
    await on.settled("white");
    expect(seen.born).toEqual([...all("black"), ...all("white")]);

    const before = (await on.kittens()).map(({ metadata }) => metadata.uid);
    const chip = { type: "merge", body: { metadata: { labels: { chip: "7" } } } } as const;
    const count = await operator.reconciles();
    await on.client.patch(Kitten, { namespace: on.namespace, name: "tom-1" }, chip);
    await eventually(operator.reconciles, (now) => now > count);
    expect((await on.kittens()).map(({ metadata }) => metadata.uid)).toEqual(before);

    await on.client.delete(Litter, on.ref);
    await eventually(
      () => on.client.find(Litter, on.ref),
      (litter) => litter === undefined,
    );
    expect([await on.kittens(), await on.boxOf()]).toEqual([[], undefined]);
  });
});

describe("a decorator controller", () => {
  it("adds to the objects it selects, repairs what it added, and takes it back when it no longer selects them", async () => {
    await using on = await stage();
    const ref = { namespace: on.namespace, name: "mia" };
    const [kitten, tag] = [() => on.client.find(Kitten, ref), () => on.client.find(ConfigMap, { ...ref, name: "mia-tag" })];
    const patch = (body: object) => on.client.patch(Kitten, ref, { type: "merge", body });
    await on.client.create(Kitten, { metadata: { ...ref, labels: { collar: "red" } }, spec: { color: "black" } });
    await on.client.create(Kitten, { metadata: { ...ref, name: "stray" }, spec: { color: "grey" } });
    await on.run(...tags);
    await eventually(tag, (found) => found?.data?.color === "black");
    expect((await kitten())?.metadata).toMatchObject({
      labels: { collar: "red", tagged: "yes" },
      annotations: { color: "black" },
    });

    await patch({ spec: { color: "white" }, metadata: { labels: { tagged: "no" } } });
    await eventually(tag, (found) => found?.data?.color === "white");
    await eventually(kitten, (found) => found?.metadata.labels?.tagged === "yes");
    const first = (await tag())?.metadata.uid;
    await on.client.delete(ConfigMap, { ...ref, name: "mia-tag" });
    await eventually(tag, (found) => found !== undefined && found.metadata.uid !== first);

    await patch({ metadata: { labels: { collar: null } } });
    await eventually(kitten, (found) => (found?.metadata.finalizers ?? []).length === 0);
    expect([await tag(), (await kitten())?.metadata.labels ?? {}]).toEqual([undefined, {}]);
    const stray = await on.client.get(Kitten, { ...ref, name: "stray" });
    expect([stray.metadata.finalizers, stray.metadata.labels]).toEqual([undefined, undefined]);
  });
});

describe("C1: an operator that is killed at each write", () => {
  it.each(moments)("makes every child of every revision once: %s", { timeout: 300_000 }, async (when) => {
    await using on = await stage();
    await using seen = nursery(on);
    await on.put("black");
    let deaths = await killAtEveryWrite({ when, start: on.start, settled: on.settled("black") });
    await on.put("white");
    deaths += await killAtEveryWrite({ when, start: on.start, settled: on.settled("white") });
    expect([seen.born.slice(0, 3).toSorted(), seen.born.slice(3)]).toEqual([all("black"), all("white")]);
    expect(deaths).toBeGreaterThan(8);
  });
});

describe("L1: two operators at the same time", () => {
  it("make every child of every revision once", async () => {
    await using on = await stage();
    await using seen = nursery(on);
    await on.start();
    await on.start();
    await on.put("black");
    await on.settled("black");
    await on.put("white");
    await on.settled("white");
    expect([seen.born.slice(0, 3).toSorted(), seen.born.slice(3)]).toEqual([all("black"), all("white")]);
  });
});
