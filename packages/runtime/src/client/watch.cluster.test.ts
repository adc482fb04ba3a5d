import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientOf } from "../testing/cluster-world.ts";
import type { WatchEvent } from "./client.ts";

const mine = "metadata.name!=kube-root-ca.crt";

/** Events until one holds, then no more. */
async function until(
  events: AsyncIterable<WatchEvent<ConfigMap>>,
  last: (event: WatchEvent<ConfigMap>) => boolean,
  after: (seen: number) => unknown = () => {},
) {
  const seen: string[] = [];
  for await (const event of events) {
    if (event.type === "BOOKMARK" && !event.initialEventsEnd) continue; // those of the clock come when they like
    seen.push(event.type === "BOOKMARK" ? "BOOKMARK" : `${event.type} ${event.object.metadata.name}`);
    if (last(event)) return seen;
    await after(seen.length);
  }
  throw new Error(`ended early, after ${seen}`);
}

describe.each([{ http2: true }, { http2: false }])("a watch, http2: $http2", ({ http2 }) => {
  it("streams the current state, reports when it is complete, and continues with changes", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster, { http2 });
    const namespace = cluster.defaultNamespace;
    const ref = { namespace, name: "b" };
    await client.create(ConfigMap, { metadata: { namespace, name: "a" } });
    const events = client.watch(ConfigMap, { namespace, fieldSelector: mine, sendInitialEvents: true });
    const write = async (seen: number) => {
      if (seen === 2) await client.create(ConfigMap, { metadata: ref });
      if (seen === 3) await client.patch(ConfigMap, ref, { type: "merge", body: { data: { x: "1" } } });
      if (seen === 4) await client.delete(ConfigMap, ref);
    };
    const seen = await until(events, ({ type }) => type === "DELETED", write);
    expect(seen).toEqual(["ADDED a", "BOOKMARK", "ADDED b", "MODIFIED b", "DELETED b"]);
  });

  it("continues from a resourceVersion, and ends without error after timeoutSeconds", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster, { http2 });
    const namespace = cluster.defaultNamespace;
    const { metadata } = await client.create(ConfigMap, { metadata: { namespace, name: "a" } });
    await client.create(ConfigMap, { metadata: { namespace, name: "b" } });
    const events = await Array.fromAsync(
      client.watch(ConfigMap, { namespace, fieldSelector: mine, resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 }),
    );
    expect(events.flatMap((event) => (event.type === "BOOKMARK" ? [] : [event.object.metadata.name]))).toEqual(["b"]);
  });

  it("yields the same objects as a list", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster, { http2 });
    const namespace = cluster.defaultNamespace;
    await client.create(ConfigMap, { metadata: { namespace, name: "a" }, data: { x: "1" } });
    const { items } = await client.list(ConfigMap, { namespace, fieldSelector: mine });
    for await (const event of client.watch(ConfigMap, { namespace, fieldSelector: mine })) {
      expect(event).toEqual({ type: "ADDED", object: items[0] });
      break;
    }
  });
});
