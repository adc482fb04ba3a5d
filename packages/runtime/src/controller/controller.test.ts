import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { view } from "../cache/projection.ts";
import { indexBy } from "../cache/store.ts";
import { ConfigMap, Node, Secret, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import type { Kind, ObjectOf, ObjectRef, Stored } from "../objects/object.ts";
import { condition } from "../schema/conditions.ts";
import { defineResource } from "../schema/define-resource.ts";
import { allow } from "../schema/permissions.ts";
import { atWork, config } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import type { CacheReader } from "./context.ts";
import { controller, defineController } from "./controller.ts";
import { declarative } from "./declarative.ts";
import { awaitChange, done, requeueAfter } from "./outcome.ts";

const Gordon = defineResource({
  group: "operator.prgcont.cz",
  version: "v1",
  kind: "Gordon",
  shortNames: ["gn"],
  spec: z.object({ gordon: z.object({ replicas: z.int().min(0).max(100) }) }),
  status: z.object({ replicas: z.int(), readyReplicas: z.int() }),
  conditions: { Ready: { True: ["AllPodsRunning"], False: ["PodsMissing"] } },
});

const podsByNode = indexBy(Pod, (pod) => pod.spec.nodeName);
const configs = indexBy(ConfigMap, () => undefined);
const container = { name: "gordon", image: "gordon" };

/** Nothing calls the reconcile functions below: the compiler checks them. */
describe("the types of a controller", () => {
  it("let the context read declared kinds only, with their object types", () => {
    controller(Gordon, { owns: [Pod], watches: [{ kind: Node, map: () => [] }] }, async (ref, ctx) => {
      expectTypeOf(ctx.get(Gordon, ref)?.spec.gordon.replicas).toEqualTypeOf<number | undefined>();
      expectTypeOf(ctx.list(Pod)).toEqualTypeOf<readonly Stored<Pod>[]>();
      expectTypeOf(ctx.get(Node, { name: "a" })).toEqualTypeOf<Stored<Node> | undefined>();
      expectTypeOf(ctx.lookup(podsByNode, "a")).toEqualTypeOf<readonly Stored<Pod>[]>();
      // @ts-expect-error ConfigMap is neither owned nor watched
      ctx.get(ConfigMap, ref);
      // @ts-expect-error nor can it be listed
      ctx.list(ConfigMap);
      // @ts-expect-error nor looked up
      ctx.lookup(configs, "a");
      return done();
    });
  });

  it("distinguish kinds whose objects are assignable to each other", () => {
    controller(ConfigMap, {}, async (ref, ctx) => {
      // @ts-expect-error a Pod could pass for a ConfigMap: all fields of one are optional
      ctx.get(Pod, ref);
      return done();
    });
  });

  it("let the client make declared calls only", () => {
    controller(
      Gordon,
      { owns: [Pod], permissions: [allow(Service, "create"), allow(Pod, "patch", { subresource: "resize" })] },
      async (ref, ctx) => {
        await ctx.client.delete(Pod, ref, { uid: "…" });
        await ctx.client.create(Service, { metadata: ref });
        await ctx.client.patch(Pod, ref, { type: "strategic", body: {} }, { subresource: "resize" });
        // @ts-expect-error delete of services is not declared
        await ctx.client.delete(Service, ref);
        // @ts-expect-error nor gordons
        await ctx.client.delete(Gordon, ref);
        // @ts-expect-error a Gordon is cached; a live read needs another permission
        await ctx.client.get(Gordon, ref);
        return done();
      },
    );
  });

  it("let setStatus set only conditions that the kind defines", () => {
    controller(Gordon, {}, async (ref, ctx) => {
      const gordon = ctx.get(Gordon, ref);
      if (gordon === undefined) return awaitChange("none");
      const ready = condition(Gordon, "Ready", "PodsMissing", "0 of 1");
      await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0, conditions: [ready] });
      // @ts-expect-error there is no such reason
      await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0, conditions: [{ ...ready, reason: "Tired" }] });
      // @ts-expect-error readyReplicas is missing
      await ctx.setStatus(gordon, { replicas: 1 });
      return requeueAfter(1_000, "…");
    });
  });

  it("forbid setStatus with writesStatus: false", () => {
    controller(Gordon, { writesStatus: false }, async (ref, ctx) => {
      const gordon = ctx.get(Gordon, ref);
      // @ts-expect-error no permission to write the status
      if (gordon !== undefined) await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0 });
      return done();
    });
  });

  it("give map functions and cleanup the right object types, and restrict views to their fields", () => {
    const PodNames = view(Pod, { project: ({ metadata }) => ({ metadata }) });
    controller(
      Gordon,
      {
        watches: [
          {
            kind: Node,
            map: (node, cached) => {
              expectTypeOf(node).toEqualTypeOf<Stored<Node>>();
              return cached.list(Gordon).map((gordon) => ({ name: `${gordon.spec.gordon.replicas}` }));
            },
            predicate: ({ object }) => object.spec?.unschedulable === true,
          },
          { kind: PodNames, map: () => [] },
        ],
        finalizer: {
          name: "operator.prgcont.cz/cleanup",
          cleanUp: async (gordon, ctx) => {
            expectTypeOf(gordon.spec.gordon.replicas).toBeNumber();
            expectTypeOf(ctx.list(Node)).toEqualTypeOf<readonly Stored<Node>[]>();
            return done();
          },
        },
        onTerminalError: (error, gordon) => ({
          replicas: gordon.spec.gordon.replicas,
          readyReplicas: 0,
          conditions: [condition(Gordon, "Ready", "PodsMissing", error.message)],
        }),
      },
      async (_ref, ctx) => {
        // @ts-expect-error the view keeps no spec
        ctx.list(PodNames)[0]?.spec;
        return done();
      },
    );
  });

  it("are the same in a declarative controller", () => {
    declarative(Gordon, { owns: [Pod] }, (gordon, seen) => {
      expectTypeOf(seen.children(Pod)).toEqualTypeOf<readonly Stored<Pod>[]>();
      // @ts-expect-error ConfigMap is not owned
      seen.children(ConfigMap);
      const pods = Array.from({ length: gordon.spec.gordon.replicas }, (_, index) =>
        child(Pod, { metadata: { name: `${gordon.metadata.name}-${index}` }, spec: { containers: [container] } }),
      );
      return { children: pods, status: { replicas: pods.length, readyReplicas: seen.children(Pod).length } };
    });
  });
});

describe("a controller", () => {
  it("is a value with a name and its permissions", () => {
    const gordons = controller(Gordon, { owns: [Pod], permissions: [allow(Node, "get")] }, async () => done());
    expect(gordons.name).toBe("gordon");
    const rights = gordons.grants.map(
      ({ kind, verbs, subresource }) => `${kind.plural}${subresource ? `/${subresource}` : ""}: ${verbs}`,
    );
    expect(rights).toEqual([
      "gordons: list,watch",
      "gordons/status: patch",
      "gordons/finalizers: update",
      "pods: get,list,watch,create,patch,delete",
      "nodes: get",
      "events: create,patch",
    ]);
  });

  it("has no permission to write the status with writesStatus: false, and rejects onTerminalError", () => {
    const silent = controller(Gordon, { writesStatus: false }, async () => done());
    expect(silent.grants.filter(({ subresource }) => subresource === "status")).toEqual([]);
    const onTerminalError = () => ({ replicas: 0, readyReplicas: 0 });
    expect(() => controller(Gordon, { writesStatus: false, onTerminalError }, async () => done())).toThrow(
      /expected no onTerminalError/,
    );
  });

  it("is restricted to its permissions in the helpers of the runtime, too", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { writesStatus: false }, async (ref, ctx) => {
        const found = ctx.get(ConfigMap, ref);
        // @ts-expect-error bypasses the compiler to test the runtime check
        if (found !== undefined) await ctx.setStatus(found, {}).catch((error: Error) => ran.push(error.message));
        return done();
      }),
    );
    await at.start();
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect(at.ran).toEqual([expect.stringContaining("patch configmaps/status: expected a declared permission")]);
    expect(at.world.writes).toEqual([]);
  });

  it("passes as a CacheReader to helpers, and still rejects kinds that are not declared", async () => {
    const namesOf = (kind: Kind, cached: CacheReader) =>
      cached.list(kind, { namespace: "home" }).map(({ metadata }) => metadata.name);
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async (ref, ctx) => {
        ran.push(...namesOf(ConfigMap, ctx), String(ctx.get(ConfigMap, ref)?.data?.tea));
        try {
          namesOf(Pod, ctx);
        } catch (error) {
          ran.push((error as Error).constructor.name);
        }
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a", { tea: "green" }));
    at.api.put(ConfigMap, config("elsewhere", {}, "away"));
    await at.start();
    expect(at.ran.slice(0, 3)).toEqual(["a", "green", "KindNotCachedError"]);
  });

  it.each([
    { concurrency: 0 },
    { concurrency: 1.5 },
    { concurrency: Number.NaN },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: "120000" as never },
    { resyncMs: -1 },
    { resyncMs: Number.POSITIVE_INFINITY },
  ])("rejects %j when it is defined", (options) => {
    const [name = ""] = Object.keys(options);
    expect(() => controller(Gordon, options, async () => done())).toThrow(`controller of Gordon: expected ${name} to be`);
  });

  it.each([{ backoff: { initialMs: 0, maxMs: 1 } }, { backoff: { initialMs: 2, maxMs: 1 } }])(
    "rejects %j when it is defined",
    (options) => expect(() => controller(Gordon, options, async () => done())).toThrow("controller of Gordon: expected backoff."),
  );

  it("infers the context of a separate function, and the objects of predicates per owned kind", () => {
    const definition = defineController(Gordon, {
      owns: [Pod, { kind: ConfigMap, predicate: ({ object }) => object.data?.loud === "yes" }],
      watches: [{ kind: Node, map: (node) => (node.spec?.unschedulable === true ? [{ name: "a" }] : []) }],
      permissions: [allow(Node, "get")],
    });
    const reconcile = async (ref: ObjectRef, ctx: typeof definition.Context) => {
      expectTypeOf(ctx.get(Gordon, ref)).toEqualTypeOf<Stored<ObjectOf<typeof Gordon>> | undefined>();
      expectTypeOf(ctx.list(Pod)).toEqualTypeOf<readonly Stored<Pod>[]>();
      expectTypeOf(ctx.list(ConfigMap)).toEqualTypeOf<readonly Stored<ConfigMap>[]>();
      await ctx.client.get(Node, { name: "a" });
      // @ts-expect-error: not cached
      ctx.list(Secret);
      // @ts-expect-error: not allowed
      await ctx.client.delete(Node, { name: "a" });
      return done();
    };
    const { plan, grants } = definition.reconcile(reconcile, { resyncMs: 0 });
    expect(plan.owns.map(({ kind, predicate }) => [kind, predicate !== undefined])).toEqual([
      [Pod, false],
      [ConfigMap, true],
    ]);
    expect(plan.resyncMs).toBe(0);
    expect(grants).toContainEqual(allow(Node, "get"));
  });

  it("treats an undefined option as absent", () => {
    const none = { concurrency: undefined, timeoutMs: undefined, resyncMs: undefined, owns: undefined, name: undefined };
    const { plan, name } = controller(Gordon, none as never, async () => done());
    expect([plan.concurrency, plan.timeoutMs, plan.resyncMs, plan.owns, name]).toEqual([1, 120_000, 3_600_000, [], "gordon"]);
  });

  it("rejects a finalizer name without a domain", () => {
    const named = (name: string) => () =>
      controller(Gordon, { finalizer: { name, cleanUp: async () => done() } }, async () => done());
    expect(named("cleanup")).toThrow(/expected a qualified name in a domain you own/);
    expect(named("not a name/cleanup")).toThrow(/found "not a name\/cleanup"/);
    expect(
      named("operator.prgcont.cz/cleanup")().grants.some(
        ({ kind, verbs, subresource }) => kind === Gordon && verbs.includes("patch") && !subresource,
      ),
    ).toBe(true);
  });
});
