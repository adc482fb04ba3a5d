import {
  allowed,
  ConfigMap,
  child,
  condition,
  controller,
  crdOf,
  Deployment,
  declarative,
  defineResource,
  denied,
  done,
  dynamicKind,
  minutes,
  mutate,
  Pod,
  requeueAfter,
  seconds,
  TerminalError,
  validate,
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

/** Buckets in a service that is a set in memory and can fail. */
function buckets(service: Set<string>, today: { fails?: Error } = {}) {
  const cleanUp = async ({ metadata }: { metadata: { name: string } }) => {
    if (today.fails !== undefined) throw today.fails;
    service.delete(metadata.name);
    return done();
  };
  const onTerminalError = ({ message }: Error) => ({ size: 0, conditions: [condition(Bucket, "Ready", "Refused", message)] });
  return controller(Bucket, { finalizer: { name: "storage.example.com/bucket", cleanUp }, onTerminalError }, async (key, ctx) => {
    const bucket = ctx.get(Bucket, key);
    if (bucket === undefined) return done();
    if (today.fails !== undefined) throw today.fails;
    service.add(key.name);
    const { size } = bucket.spec;
    await ctx.setStatus(bucket, { size, conditions: [condition(Bucket, "Ready", "Made", "The bucket exists")] });
    return requeueAfter(minutes(5), "the service sends no notifications");
  });
}

describe("simulate", () => {
  it("runs reconciles to completion and again after requeueAfter", async () => {
    const service = new Set<string>();
    await using cluster = await simulate({ controllers: [buckets(service)], objects: [anObject(Bucket)] });
    expect(service).toEqual(new Set(["example"]));
    expect((await cluster.client.get(Bucket, ref)).status).toMatchObject({ size: 1, conditions: [{ reason: "Made" }] });
    service.clear();
    await cluster.clock.advance(minutes(5));
    expect(service).toEqual(new Set(["example"]));
    expect(cluster.errors).toEqual([]);
  });

  it("retries failed reconciles except after a TerminalError, and records the errors", async () => {
    const today: { fails?: Error } = { fails: new Error("storage answered 503") };
    const service = new Set<string>();
    await using cluster = await simulate({ controllers: [buckets(service, today)], objects: [anObject(Bucket)] });
    expect(cluster.errors).toEqual([today.fails]);
    delete today.fails;
    await cluster.clock.advance(seconds(1));
    expect(service).toEqual(new Set(["example"]));

    today.fails = new TerminalError("too large");
    await cluster.client.patch(Bucket, ref, { type: "merge", body: { spec: { size: 99 } } });
    await cluster.clock.advance(0);
    const failures = cluster.errors.length;
    await cluster.clock.advance(minutes(30));
    expect(cluster.errors).toHaveLength(failures);
    expect((await cluster.client.get(Bucket, ref)).status?.conditions).toMatchObject([{ reason: "Refused" }]);
  });

  it("keeps an object until its finalizer succeeds", async () => {
    const today: { fails?: Error } = {};
    const service = new Set<string>();
    await using cluster = await simulate({ controllers: [buckets(service, today)], objects: [anObject(Bucket)] });
    today.fails = new Error("busy");
    await cluster.client.delete(Bucket, ref);
    await cluster.clock.advance(0);
    expect((await cluster.client.get(Bucket, ref)).metadata.deletionTimestamp).toBeDefined();
    delete today.fails;
    await cluster.clock.advance(seconds(1));
    expect([await cluster.client.find(Bucket, ref), service.size]).toEqual([undefined, 0]);
  });

  it("rejects invalid objects as the API server does", async () => {
    await using cluster = await simulate({ controllers: [buckets(new Set())] });
    const tooLarge = { metadata: ref, spec: { size: 5000, tags: [] } };
    await expect(cluster.client.create(Bucket, tooLarge)).rejects.toMatchObject({ code: "API_INVALID" });
  });

  it("creates, repairs and prunes children, and sends no requests when nothing has changed", async () => {
    const tags = declarative(Bucket, { owns: [ConfigMap] }, (bucket, seen) => ({
      children: bucket.spec.tags.map((tag) => child(ConfigMap, { metadata: { name: tag }, data: { tag } })),
      prune: [ConfigMap],
      status: { size: seen.children(ConfigMap).length },
    }));
    await using cluster = await simulate({ controllers: [tags], objects: [anObject(Bucket, { spec: { tags: ["a", "b"] } })] });
    const names = async () => {
      const { items } = await cluster.client.list(ConfigMap, { namespace: "default" });
      return items.flatMap(({ data = {} }) => data.tag ?? []); // every namespace also has kube-root-ca.crt
    };
    expect(await names()).toEqual(["a", "b"]);
    await cluster.client.delete(ConfigMap, { namespace: "default", name: "a" });
    await cluster.clock.advance(0);
    expect(await names()).toEqual(["a", "b"]);
    const before = cluster.journal.writes.length;
    await cluster.clock.advance(minutes(180));
    expect(cluster.journal.writes).toHaveLength(before);
  });

  it("runs controllers in a full cluster on request", async () => {
    const runs = declarative(Bucket, { owns: [Deployment] }, (bucket, seen) => {
      const labels = { app: bucket.metadata.name };
      const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "bucket" }] } };
      const spec = { replicas: bucket.spec.size, selector: { matchLabels: labels }, template };
      const [deployment] = seen.children(Deployment);
      const size = deployment?.status?.readyReplicas ?? 0;
      return { children: [child(Deployment, { metadata: { name: "d" }, spec })], status: { size } };
    });
    const objects = [anObject(Bucket, { spec: { size: 2 } })];
    await using cluster = await simulate({ controllers: [runs], objects, cluster: { nodes: { count: 1 } } });
    await cluster.clock.advance(minutes(1));
    expect((await cluster.client.get(Bucket, ref)).status?.size).toBe(2);
  });

  it("calls the operator's webhooks for every write, without a network", async () => {
    const webhooks = [
      validate(Bucket, ({ spec }) => (spec.size > 9 ? denied("expected at most 9") : allowed())),
      mutate(Bucket, (bucket) => ({ ...bucket, metadata: { ...bucket.metadata, labels: { seen: "yes" } } })),
    ];
    const controllers = [controller(Bucket, {}, async () => done())];
    await using cluster = await simulate({ controllers, webhooks, objects: [anObject(Bucket, { spec: { size: 1 } })] });
    expect((await cluster.client.get(Bucket, ref)).metadata.labels).toEqual({ seen: "yes" });
    const grow = cluster.client.patch(Bucket, ref, { type: "merge", body: { spec: { size: 10 } } });
    await expect(grow).rejects.toThrow("denied the request: expected at most 9");
  });

  it("creates initial objects with their status and their namespaces", async () => {
    const seen: unknown[] = [];
    const look = controller(Pod, { writesStatus: false }, async (key, ctx) => {
      seen.push(ctx.get(Pod, key)?.status?.phase);
      return done();
    });
    await using _world = await simulate({ controllers: [look], objects: [aPod({ metadata: { namespace: "elsewhere" } })] });
    expect(seen).toEqual(["Running"]);
  });

  const Tunnel = dynamicKind({ group: "vpn.example.com", version: "v1", kind: "Tunnel", plural: "tunnels", namespaced: true });
  const looking = (seen: string[]) =>
    controller(Tunnel, { writesStatus: false }, async ({ name }) => {
      seen.push(name);
      return done();
    });

  it("serves kinds that are defined elsewhere", async () => {
    const seen: string[] = [];
    const spec = z.object({}).loose();
    const { group, version, kind } = Tunnel;
    const crds = [crdOf(defineResource({ group, version, kind, spec }))];
    await using _world = await simulate({ controllers: [looking(seen)], crds, objects: [anObject(Tunnel, { spec: {} })] });
    expect(seen).toEqual(["example"]);
  });

  it("names what is missing if the controllers cannot start", async () => {
    await expect(simulate({ controllers: [looking([])] })).rejects.toThrow(
      "ready within a minute, found the API server does not serve tunnels.vpn.example.com in version v1: install its CRD",
    );
  });

  it("rejects initial objects of kinds that no controller declares", async () => {
    await expect(simulate({ controllers: [buckets(new Set())], objects: [aPod()] })).rejects.toThrow(
      "expected objects of kinds that the controllers declare (Bucket, Event), found v1 Pod",
    );
  });
});
