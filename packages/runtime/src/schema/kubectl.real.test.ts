// A custom resource as seen through kubectl.
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { installCrds } from "./install.ts";
import { withDefaults } from "./parse.ts";
import { Wide } from "./wide.fixture.ts";

/** A client of a cluster that serves Wide. */
async function wideClient(cluster: TestCluster) {
  const client = await clientOf(cluster);
  await installCrds(client, [Wide], { clock: quick.environment.clock });
  return client;
}

describe("kubectl (real binary)", () => {
  it("shows the columns, scales, explains, waits and selects", async () => {
    await using cluster = await testCluster();
    await using client = await wideClient(cluster);
    const ref = { namespace: cluster.defaultNamespace, name: "a" };
    await client.create(Wide, withDefaults(Wide, { metadata: ref, spec: { strings: { "storage-size": "1Gi" } } }));
    const ready = {
      type: "Ready",
      status: "False",
      reason: "SomeMissing",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const body = { status: { replicas: 1, selector: "app=a", conditions: [ready] } };
    await client.patch(Wide, ref, { type: "merge", body }, { subresource: "status" });

    const [head, row] = (await cluster.kubectl("get", "wyd")).split("\n").map((line) => line.split(/\s+/));
    expect(head?.slice(0, 6)).toEqual(["NAME", "DESIRED", "SIZE", "READY", "REASON", "AGE"]);
    expect(row?.slice(0, 5)).toEqual(["a", "1", "1Gi", "False", "SomeMissing"]);
    // kubectl looks a category up in every group, and a group of another test can disappear meanwhile.
    await cluster.eventually(
      () => cluster.kubectl("get", "everything", "-o", "name").catch(String),
      (names) => names === "wide.schema.memhog.test/a\n",
    );

    await cluster.kubectl("scale", "wide", "a", "--replicas=7");
    expect(await client.get(Wide, ref, { subresource: "scale" })).toMatchObject({
      spec: { replicas: 7 },
      status: { replicas: 1, selector: "app=a" },
    });
    expect(await cluster.kubectl("get", "wides", "--field-selector=spec.replicas=7", "-o", "name")).toContain("/a");
    await cluster.kubectl("wait", "wide/a", "--for=condition=Ready=False");
  });

  it("explains every field with its description", async () => {
    await using cluster = await testCluster();
    await using _client = await wideClient(cluster);
    // OpenAPI is published shortly after the kind is served.
    const text = await cluster.eventually(
      () => cluster.kubectl("explain", "wide.spec.numbers.bounded").catch((error: Error) => error.message),
      (text) => text.includes("From 1 to 9."),
    );
    expect(text).toContain("bounded <integer>");
    expect(await cluster.kubectl("explain", "wide")).toContain("Uses every word the schema language has.");
  });
});
