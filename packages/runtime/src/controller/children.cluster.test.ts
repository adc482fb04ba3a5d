// How a server rejects a change of an immutable field differs from kind to kind, so this runs on an API server.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import { startOperator } from "../testing/start-operator.ts";
import { child } from "./children.ts";
import { declarative } from "./declarative.ts";

/** A pod with the song of its ConfigMap in its environment. */
const singers = declarative(ConfigMap, { owns: [Pod] }, ({ metadata, data }) => {
  const env = [{ name: "SONG", value: data?.song ?? "" }];
  const pod = { metadata: { name: metadata.name }, spec: { containers: [{ name: "singer", image: "singer", env }] } };
  return { children: data?.song === undefined ? [] : [child(Pod, pod, { whenImmutable: "replace" })] };
});

describe("a child with a changed immutable field", () => {
  it("is replaced with whenImmutable: replace", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const ref = { namespace: cluster.defaultNamespace, name: "a" };
    const options = { kubeconfig: cluster.kubeconfig, namespaces: [ref.namespace] };
    await using _operator = await startOperator({ name: "singers", controllers: [singers], ...options });
    const singing = (song: string) =>
      eventually(
        () => client.find(Pod, ref),
        (pod) => pod?.spec.containers[0]?.env?.[0]?.value === song,
      );
    await client.create(ConfigMap, { metadata: ref, data: { song: "la" } });
    const first = await singing("la");
    await client.patch(ConfigMap, ref, { type: "merge", body: { data: { song: "lalala" } } });
    const second = await singing("lalala");
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  });
});
