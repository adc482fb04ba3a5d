import {
  ConfigMap,
  checkAgainIn,
  child,
  condition,
  controller,
  crdOf,
  Deployment,
  declarative,
  defineResource,
  done,
  dynamicKind,
  minutes,
  PermanentError,
  Pod,
  seconds,
  z,
} from "@memhog/runtime";
import { anObject, aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";

const Bucket = defineResource({
  ...{ group: "storage.example.com", version: "v1", kind: "Bucket" },
  spec: z.object({ size: z.int().max(1000).default(1), tags: z.array(z.string().max(20)).max(10).default([]) }),
  status: z.object({ size: z.int() }),
  conditions: { Ready: { True: ["Made"], False: ["Refused"] } },
});
const ref = { namespace: "default", name: "example" };

/** Buckets at a service that is a set in memory and has bad days. */
function buckets(service: Set<string>, today: { fails?: Error } = {}) {
  const cleanUp = async ({ metadata }: { metadata: { name: string } }) => {
    if (today.fails !== undefined) throw today.fails;
    service.delete(metadata.name);
    return done();
  };
  const whenStuck = ({ message }: Error) => ({ size: 0, conditions: [condition(Bucket, "Ready", "Refused", message)] });
  return controller(Bucket, { finalizer: { name: "storage.example.com/bucket", cleanUp }, whenStuck }, async (key, ctx) => {
    const bucket = ctx.get(Bucket, key);
    if (bucket === undefined) return done();
    if (today.fails !== undefined) throw today.fails;
    service.add(key.name);
    const { size } = bucket.spec;
    await ctx.setStatus(bucket, { size, conditions: [condition(Bucket, "Ready", "Made", "It is there")] });
    return checkAgainIn(minutes(5), "nobody tells us when it goes");
  });
}

describe("controllers, simulated", () => {
  it("do what there is to do, and look again when the time has come", async () => {
    const service = new Set<string>();
    await using world = await simulate({ controllers: [buckets(service)], objects: [anObject(Bucket)] });
    expect(service).toEqual(new Set(["example"]));
    expect((await world.client.get(Bucket, ref)).status).toMatchObject({ size: 1, conditions: [{ reason: "Made" }] });
    service.clear();
    await world.clock.advance(minutes(5));
    expect(service).toEqual(new Set(["example"]));
    expect(world.errors).toEqual([]);
  });

  it("try again what failed, and not what cannot succeed; what they failed with is there to be seen", async () => {
    const today: { fails?: Error } = { fails: new Error("storage answered 503") };
    const service = new Set<string>();
    await using world = await simulate({ controllers: [buckets(service, today)], objects: [anObject(Bucket)] });
    expect(world.errors).toEqual([today.fails]);
    delete today.fails;
    await world.clock.advance(seconds(1));
    expect(service).toEqual(new Set(["example"]));

    today.fails = new PermanentError("too large");
    await world.client.patch(Bucket, ref, { type: "merge", body: { spec: { size: 99 } } });
    await world.clock.advance(0);
    const failures = world.errors.length;
    await world.clock.advance(minutes(30));
    expect(world.errors).toHaveLength(failures);
    expect((await world.client.get(Bucket, ref)).status?.conditions).toMatchObject([{ reason: "Refused" }]);
  });

  it("keep an object until its finalizer is done", async () => {
    const today: { fails?: Error } = {};
    const service = new Set<string>();
    await using world = await simulate({ controllers: [buckets(service, today)], objects: [anObject(Bucket)] });
    today.fails = new Error("busy");
    await world.client.delete(Bucket, ref);
    await world.clock.advance(0);
    expect((await world.client.get(Bucket, ref)).metadata.deletionTimestamp).toBeDefined();
    delete today.fails;
    await world.clock.advance(seconds(1));
    expect([await world.client.find(Bucket, ref), service.size]).toEqual([undefined, 0]);
  });

  it("meet an API server that checks what it is given", async () => {
    await using world = await simulate({ controllers: [buckets(new Set())] });
    const tooLarge = { metadata: ref, spec: { size: 5000, tags: [] } };
    await expect(world.client.create(Bucket, tooLarge)).rejects.toMatchObject({ code: "API_INVALID" });
  });

  it("make, repair and prune children, and rest when all is well", async () => {
    const tags = declarative(Bucket, { owns: [ConfigMap] }, (bucket, seen) => ({
      children: bucket.spec.tags.map((tag) => child(ConfigMap, { metadata: { name: tag }, data: { tag } })),
      status: { size: seen.children(ConfigMap).length },
    }));
    await using world = await simulate({ controllers: [tags], objects: [anObject(Bucket, { spec: { tags: ["a", "b"] } })] });
    const names = async () => {
      const { items } = await world.client.list(ConfigMap, { namespace: "default" });
      return items.flatMap(({ data = {} }) => data.tag ?? []); // every namespace has one that is not ours
    };
    expect(await names()).toEqual(["a", "b"]);
    await world.client.delete(ConfigMap, { namespace: "default", name: "a" });
    await world.clock.advance(0);
    expect(await names()).toEqual(["a", "b"]);
    const before = world.journal.writes.length;
    await world.clock.advance(minutes(180));
    expect(world.journal.writes).toHaveLength(before);
  });

  it("have a whole cluster around them, if the test wants one", async () => {
    const runs = declarative(Bucket, { owns: [Deployment] }, (bucket, seen) => {
      const labels = { app: bucket.metadata.name };
      const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "bucket" }] } };
      const spec = { replicas: bucket.spec.size, selector: { matchLabels: labels }, template };
      const [deployment] = seen.children(Deployment);
      const size = deployment?.status?.readyReplicas ?? 0;
      return { children: [child(Deployment, { metadata: { name: "d" }, spec })], status: { size } };
    });
    const objects = [anObject(Bucket, { spec: { size: 2 } })];
    await using world = await simulate({ controllers: [runs], objects, cluster: { nodes: { count: 1 } } });
    await world.clock.advance(minutes(1));
    expect((await world.client.get(Bucket, ref)).status?.size).toBe(2);
  });

  it("find what is there with its status, in namespaces that come with it", async () => {
    const seen: unknown[] = [];
    const look = controller(Pod, { reports: false }, async (key, ctx) => {
      seen.push(ctx.get(Pod, key)?.status?.phase);
      return done();
    });
    await using _world = await simulate({ controllers: [look], objects: [aPod({ metadata: { namespace: "elsewhere" } })] });
    expect(seen).toEqual(["Running"]);
  });

  const Tunnel = dynamicKind({ group: "vpn.example.com", version: "v1", kind: "Tunnel", plural: "tunnels", namespaced: true });
  const looking = (seen: string[]) =>
    controller(Tunnel, { reports: false }, async ({ name }) => {
      seen.push(name);
      return done();
    });

  it("work on kinds that somebody else defines", async () => {
    const seen: string[] = [];
    const spec = z.object({}).loose();
    const { group, version, kind } = Tunnel;
    const crds = [crdOf(defineResource({ group, version, kind, spec }))];
    await using _world = await simulate({ controllers: [looking(seen)], crds, objects: [anObject(Tunnel, { spec: {} })] });
    expect(seen).toEqual(["example"]);
  });

  it("say what is missing if they can never begin", async () => {
    await expect(simulate({ controllers: [looking([])] })).rejects.toThrow(
      "ready within a minute, found the API server serves no tunnels.vpn.example.com in v1: its CRD is missing",
    );
  });

  it("are given no objects that they could never see", async () => {
    await expect(simulate({ controllers: [buckets(new Set())], objects: [aPod()] })).rejects.toThrow(
      "expected objects of kinds that the controllers declare (Bucket, Event), found v1 Pod",
    );
  });
});
