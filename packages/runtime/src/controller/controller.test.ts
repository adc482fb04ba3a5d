import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { indexBy } from "../cache/object-index.ts";
import { view } from "../cache/projection.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Node } from "../objects/kinds/core/node.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { Service } from "../objects/kinds/core/service.ts";
import type { Kind, Stored } from "../objects/object.ts";
import { may } from "../schema/access.ts";
import { condition } from "../schema/conditions.ts";
import { defineResource } from "../schema/define-resource.ts";
import { atWork, config } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import { declarative } from "./declarative.ts";
import type { CachedObjects } from "./definition.ts";
import { checkAgainIn, done, waitForChange } from "./outcome.ts";

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

/** The reconcilers below are for the compiler: nothing calls them. */
describe("a controller, to the compiler", () => {
  it("reads, for the kinds it is about, objects of their types", () => {
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

  it("is not fooled by kinds whose objects happen to fit", () => {
    controller(ConfigMap, {}, async (ref, ctx) => {
      // @ts-expect-error a Pod could pass for a ConfigMap: all fields of one are optional
      ctx.get(Pod, ref);
      return done();
    });
  });

  it("writes what it may, and nothing else", () => {
    controller(
      Gordon,
      { owns: [Pod], may: [may(Service, "create"), may(Pod, "patch", { subresource: "resize" })] },
      async (ref, ctx) => {
        await ctx.client.delete(Pod, ref, { uid: "…" });
        await ctx.client.create(Service, { metadata: ref });
        await ctx.client.patch(Pod, ref, { type: "strategic", body: {} }, { subresource: "resize" });
        // @ts-expect-error nobody said that it may delete services
        await ctx.client.delete(Service, ref);
        // @ts-expect-error nor gordons
        await ctx.client.delete(Gordon, ref);
        // @ts-expect-error a Gordon is in the cache; to read it live is another right
        await ctx.client.get(Gordon, ref);
        return done();
      },
    );
  });

  it("reports only conditions that the kind defines", () => {
    controller(Gordon, {}, async (ref, ctx) => {
      const gordon = ctx.get(Gordon, ref);
      if (gordon === undefined) return waitForChange("none");
      const ready = condition(Gordon, "Ready", "PodsMissing", "0 of 1");
      await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0, conditions: [ready] });
      // @ts-expect-error there is no such reason
      await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0, conditions: [{ ...ready, reason: "Tired" }] });
      // @ts-expect-error readyReplicas is missing
      await ctx.setStatus(gordon, { replicas: 1 });
      return checkAgainIn(1_000, "…");
    });
  });

  it("reports nothing if it said that it never does", () => {
    controller(Gordon, { reports: false }, async (ref, ctx) => {
      const gordon = ctx.get(Gordon, ref);
      // @ts-expect-error there is no right to
      if (gordon !== undefined) await ctx.setStatus(gordon, { replicas: 1, readyReplicas: 0 });
      return done();
    });
  });

  it("maps and cleans up with objects of the right types, and reads views by their fields", () => {
    const PodNames = view(Pod, { project: ({ metadata }) => ({ metadata }) });
    controller(
      Gordon,
      {
        watches: [
          {
            kind: Node,
            map: (node, gordons) => {
              expectTypeOf(node).toEqualTypeOf<Stored<Node>>();
              return [...gordons.objects()].map((gordon) => ({ name: `${gordon.spec.gordon.replicas}` }));
            },
            when: ({ object }) => object.spec?.unschedulable === true,
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
        whenStuck: (error, gordon) => ({
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

  it("in its pure form sees and wants with the same types", () => {
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
  it("is a value that knows its name and its rights", () => {
    const gordons = controller(Gordon, { owns: [Pod], may: [may(Node, "get")] }, async () => done());
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

  it("has no right to a status that it never reports in, and nothing to say there when stuck", () => {
    const silent = controller(Gordon, { reports: false }, async () => done());
    expect(silent.grants.filter(({ subresource }) => subresource === "status")).toEqual([]);
    const whenStuck = () => ({ replicas: 0, readyReplicas: 0 });
    expect(() => controller(Gordon, { reports: false, whenStuck }, async () => done())).toThrow(/expected no whenStuck/);
  });

  it("is held to its rights by the helpers of the runtime, too", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { reports: false }, async (ref, ctx) => {
        const found = ctx.get(ConfigMap, ref);
        // @ts-expect-error past the compiler
        if (found !== undefined) await ctx.setStatus(found, {}).catch((error: Error) => ran.push(error.message));
        return done();
      }),
    );
    await at.start();
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect(at.ran).toEqual([expect.stringContaining("patch configmaps/status: expected it among the declared rights")]);
    expect(at.world.writes).toEqual([]);
  });

  it("reads for functions that know nothing of it, too, but nothing that was not declared", async () => {
    const namesOf = (kind: Kind, cached: CachedObjects) => [...cached.objects(kind, "home")].map(({ metadata }) => metadata.name);
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async (ref, { cached }) => {
        ran.push(...namesOf(ConfigMap, cached), String(cached.get(ConfigMap, ref)?.data?.tea));
        try {
          namesOf(Pod, cached);
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
  ])("says what is wrong with %j when it is defined", (options) => {
    const [name = ""] = Object.keys(options);
    expect(() => controller(Gordon, options, async () => done())).toThrow(`controller of Gordon: expected ${name} to be`);
  });

  it("takes what is undefined for not stated", () => {
    const none = { concurrency: undefined, timeoutMs: undefined, resyncMs: undefined, owns: undefined, name: undefined };
    const { plan, name } = controller(Gordon, none as never, async () => done());
    expect([plan.concurrency, plan.timeoutMs, plan.resyncMs, plan.owns, name]).toEqual([1, 120_000, 3_600_000, [], "gordon"]);
  });

  it("needs a finalizer in a domain of its own, when it is defined", () => {
    const named = (name: string) => () =>
      controller(Gordon, { finalizer: { name, cleanUp: async () => done() } }, async () => done());
    expect(named("cleanup")).toThrow(/expected a name in a domain of yours/);
    expect(named("not a name/cleanup")).toThrow(/found "not a name\/cleanup"/);
    expect(
      named("operator.prgcont.cz/cleanup")().grants.some(
        ({ kind, verbs, subresource }) => kind === Gordon && verbs.includes("patch") && !subresource,
      ),
    ).toBe(true);
  });
});
