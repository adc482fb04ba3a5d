// Needs its own cluster, because it stops the API server.
import { startCluster } from "@memhog/localcluster";
import { backUpEtcd } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import { Cache } from "./cache.ts";

it("W3: a cache recovers after the API server was stopped (needs one that can be stopped)", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  await using client = await clientOf(cluster);
  const namespace = await cluster.namespace();
  const put = (name: string) => client.create(ConfigMap, { metadata: { namespace, name } });
  const { environment } = quick;
  // Production timing.
  const cache = new Cache<ConfigMap>({ client, kind: ConfigMap, namespaces: "all", environment, log: silentLogger });
  cache.start();
  const seen = (name: string) =>
    eventually(
      () => cache.get({ namespace, name }),
      (found) => found !== undefined,
    );
  try {
    await put("before");
    await seen("before");
    await cluster.stop("kube-apiserver");
    await eventually(
      () => cache.synced,
      (synced) => !synced,
    );
    await cluster.start("kube-apiserver");
    await put("after");
    await seen("after");
    await cache.whenSynced();
    const truth = await Array.fromAsync(client.listAll(ConfigMap));
    expect(cache.size).toBe(truth.length);
  } finally {
    await cache.stop();
  }
});

it("W3: a cache recovers after the cluster was restored from a backup (needs one that can be stopped)", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  await using client = await clientOf(cluster);
  const namespace = await cluster.namespace();
  const put = (name: string) => client.create(ConfigMap, { metadata: { namespace, name } });
  const stop = async () => {
    for (const component of ["kube-apiserver", "etcd"]) await cluster.stop(component);
  };
  const start = async () => {
    for (const component of ["etcd", "kube-apiserver"]) await cluster.start(component);
  };
  await put("kept");
  await stop();
  const restore = await backUpEtcd(cluster);
  await start();
  const { environment } = quick;
  const cache = new Cache<ConfigMap>({ client, kind: ConfigMap, namespaces: [namespace], environment, log: silentLogger });
  cache.start();
  const found = (name: string) => cache.get({ namespace, name }) !== undefined;
  const seen = (expected: Record<string, boolean>) =>
    eventually(
      () => [cache.synced, ...Object.keys(expected).map(found)],
      (state) => `${state}` === `${[true, ...Object.values(expected)]}`,
    );
  try {
    await put("lost");
    const ref = { namespace, name: "lost" };
    // More writes than a cluster makes while it starts, so that it is behind the cache.
    for (let x = 0; x < 300; x += 1) await client.patch(ConfigMap, ref, { type: "merge", body: { data: { x: `${x}` } } });
    await seen({ kept: true, lost: true });
    await stop();
    await restore();
    await start();
    await seen({ kept: true, lost: false });
    await put("new");
    await seen({ kept: true, lost: false, new: true });
  } finally {
    await cache.stop();
  }
});
