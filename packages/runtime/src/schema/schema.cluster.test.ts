// Checks the generated schemas on an API server.
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import { ApiError, InvalidError } from "../client/errors.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import { crdOf } from "./custom-resource-definition.ts";
import { defineResource, type InputOf } from "./define-resource.ts";
import { CrdNotEstablishedError } from "./errors.ts";
import { installCrds } from "./install.ts";
import { withDefaults } from "./parse.ts";
import { sampleOperators } from "./sample-operators.fixture.ts";
import { Wide } from "./wide.fixture.ts";

type Spec = InputOf<typeof Wide>["spec"];

/** A namespace of one's own in a cluster that serves Wide, and a client of it. */
async function wideCluster() {
  const cluster = await testCluster();
  const environment = systemEnvironment();
  const client = createClient({ config: await loadConfig({ kubeconfig: cluster.kubeconfig }), environment });
  await installCrds(client, [Wide], { clock: environment.clock });
  return {
    cluster,
    client,
    clock: environment.clock,
    async [Symbol.asyncDispose]() {
      await client.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** As a user writes it: without client-side validation or defaults. */
function asWritten(cluster: Cluster, spec: unknown, name = "a") {
  return {
    apiVersion: "schema.memhog.test/v1",
    kind: "Wide",
    metadata: { name, namespace: cluster.defaultNamespace },
    spec,
  } as never;
}

describe("the API server, in dry run", () => {
  let place: Awaited<ReturnType<typeof wideCluster>>;
  beforeAll(async () => {
    place = await wideCluster();
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  it.each(sampleOperators.map((resource) => [resource.kind, resource] as const))(
    "accepts the definition of %s",
    async (_, resource) => {
      // Not stored: the operators' own tests install theirs under these names.
      const taken = await place.client.create(CustomResourceDefinition, crdOf(resource), {
        dryRun: true,
        fieldValidation: "Strict",
      });
      expect(taken.spec.names.plural).toBe(resource.plural);
    },
  );

  it.each<{ name: string; spec: unknown }>([
    { name: "numbers at their bounds", spec: { numbers: { bounded: 9, ratio: 10, small: -2147483648, even: -4 } } },
    { name: "an integer beyond JavaScript's", spec: { numbers: { whole: 2 ** 60 } } },
    { name: "a whole number below a bound that is none", spec: { numbers: { share: 1 } } },
    { name: "an integer above a bound that is no whole number", spec: { numbers: { some: 1 } } },
    { name: "a pattern with a flag", spec: { strings: { loud: "yEs" } } },
    { name: "two patterns at once", spec: { strings: { both: "a.b.z" } } },
    { name: "a URL, however its scheme is written", spec: { strings: { secure: "HTTPS://example.com/x" } } },
    { name: "a UUID of the right version", spec: { strings: { random: "0b6e2ad4-5c3f-4f1e-9a55-1f3c2d4e5f60" } } },
    { name: "either form of a string", spec: { strings: { address: "::1" } } },
    { name: "bytes", spec: { strings: { bytes: "aGVsbG8=" } } },
    { name: "a pattern that means something else in Go", spec: { strings: { odd: "A:" } } },
    { name: "null where it may be", spec: { strings: { nothing: null } } },
    { name: "a number or its name", spec: { kubernetes: { port: "http" } } },
    { name: "a quantity as a number", spec: { kubernetes: { memory: 1073741824 } } },
    { name: "a duration of two units", spec: { kubernetes: { cooldown: "1h30m" } } },
    { name: "one of two", spec: { kubernetes: { source: { url: "x" } } } },
    { name: "a map over some of its keys", spec: { collections: { levels: { low: 1 } } } },
  ])("accepts $name", async ({ spec }) => {
    await place.client.create(Wide, asWritten(place.cluster, spec), { dryRun: true, fieldValidation: "Strict" });
  });

  it.each<{ name: string; spec: unknown; says: string | RegExp }>([
    { name: "a number out of bounds", spec: { numbers: { bounded: 10 } }, says: "less than or equal to 9" },
    { name: "a number on an exclusive bound", spec: { numbers: { ratio: 1 } }, says: "greater than 1" },
    { name: "a whole number under a bound that is none", spec: { numbers: { share: 0 } }, says: "must be at least 0.5" },
    { name: "a number on a bound that is none", spec: { numbers: { share: 1.5 } }, says: "must be less than 1.5" },
    { name: "an integer under a bound that is none", spec: { numbers: { some: 0 } }, says: "greater than or equal to 1" },
    { name: "a fraction for an integer", spec: { numbers: { whole: 1.5 } }, says: "spec.numbers.whole" },
    { name: "what a field's rule forbids", spec: { numbers: { odd: 2 } }, says: "must be odd" },
    { name: "what a rule about two fields forbids", spec: { replicas: 40, numbers: {} }, says: "ten times numbers.bounded" },
    { name: "a string that does not match", spec: { strings: { name: "A" } }, says: "spec.strings.name" },
    { name: "a string that matches one of two patterns", spec: { strings: { both: "a.b" } }, says: "spec.strings.both" },
    { name: "a string in neither form", spec: { strings: { address: "here" } }, says: "spec.strings.address" },
    { name: "a path for a URL", spec: { strings: { home: "/etc/passwd" } }, says: "spec.strings.home" },
    { name: "a URL of another scheme", spec: { strings: { secure: "file:///etc/passwd" } }, says: "spec.strings.secure" },
    {
      name: "a UUID of another version",
      spec: { strings: { random: "0b6e2ad4-5c3f-1f1e-9a55-1f3c2d4e5f60" } },
      says: "spec.strings.random",
    },
    { name: "a value that is not offered", spec: { strings: { choice: "Both" } }, says: '"Auto", "InPlace"' },
    { name: "a time that is none", spec: { strings: { at: "now" } }, says: "spec.strings.at" },
    { name: "bytes that were cut", spec: { strings: { bytes: "aGVsbG8" } }, says: "spec.strings.bytes" },
    { name: "what only Go's pattern would match", spec: { strings: { odd: "b" } }, says: "spec.strings.odd" },
    { name: "a list for a time", spec: { strings: { at: ["2026-01-01T00:00:00Z"] } }, says: "spec.strings.at" },
    { name: "a list of nothing for a URL", spec: { strings: { home: [] } }, says: "spec.strings.home" },
    { name: "a list for either form of a string", spec: { strings: { address: ["::1"] } }, says: "spec.strings.address" },
    { name: "null for what is required", spec: { collections: { keyed: [{ name: null }] } }, says: "keyed[0].name" },
    { name: "a list that is too long", spec: { collections: { list: ["a", "b", "c", "d"] } }, says: "at most 3 items" },
    { name: "a value twice in a set", spec: { collections: { set: ["a", "a"] } }, says: "Duplicate value" },
    { name: "a key twice in a list", spec: { collections: { keyed: [{ name: "a" }, { name: "a" }] } }, says: "Duplicate value" },
    {
      name: "a map that is too large",
      spec: { collections: { labels: { a: "", b: "", c: "" } } },
      says: "spec.collections.labels",
    },
    {
      name: "a key that is too long",
      spec: { collections: { map: { ["k".repeat(318)]: 1 } } },
      says: "keys must have at most 317",
    },
    { name: "a closed map without one of its keys", spec: { collections: { all: { x: true } } }, says: "spec.collections.all.y" },
    { name: "a quantity that is none", spec: { kubernetes: { memory: "lots" } }, says: "must be a quantity, like 512Mi or 2" },
    { name: "a quantity that is too small", spec: { kubernetes: { memory: "1Ki" } }, says: "must be at least 1Mi" },
    { name: "a quantity that is too large, as a number", spec: { kubernetes: { memory: 2 ** 41 } }, says: "must be at most 1Ti" },
    {
      name: "a duration that is none",
      spec: { kubernetes: { cooldown: "soon" } },
      says: "must be a duration, like 90s or 1h30m",
    },
    { name: "a duration that is too long", spec: { kubernetes: { cooldown: "25h" } }, says: "must be at most 24h" },
    { name: "none of two", spec: { kubernetes: { source: {} } }, says: "exactly one of url, secret must be set" },
    { name: "both of two", spec: { kubernetes: { source: { url: "a", secret: "b" } } }, says: "exactly one of url, secret" },
  ])("rejects $name with a message", async ({ spec, says }) => {
    const attempt = place.client.create(Wide, asWritten(place.cluster, spec), { dryRun: true });
    await expect(attempt).rejects.toThrow(InvalidError);
    await expect(attempt).rejects.toThrow(says);
  });
});

describe("the API server", () => {
  it("accepts every feature of the schema language as structural", async () => {
    await using place = await wideCluster();
    const { status } = await place.client.get(CustomResourceDefinition, { name: "wides.schema.memhog.test" });
    const conditions = Object.fromEntries((status?.conditions ?? []).map(({ type, status }) => [type, status]));
    expect(conditions).toMatchObject({ Established: "True", NamesAccepted: "True" });
    expect(conditions).not.toHaveProperty("NonStructuralSchema");
  });

  it("sets the same defaults as withDefaults", async () => {
    await using place = await wideCluster();
    const metadata = { name: "a", namespace: place.cluster.defaultNamespace };
    const spec: Spec = { numbers: {}, strings: {}, collections: { keyed: [{ name: "x" }] } };
    const stored = await place.client.create(Wide, asWritten(place.cluster, spec));
    expect(stored.spec).toEqual(withDefaults(Wide, { metadata, spec }).spec);
    expect(stored.spec.kubernetes).toEqual({ cooldown: "5m", nested: { deep: 7 } });
  });

  it("keeps free-form fields, and prunes unknown fields and nulls of non-nullable fields", async () => {
    await using place = await wideCluster();
    const template = { spec: { containers: [{ name: "x" }] }, surprise: { deep: [1] } };
    const spec = { kubernetes: { template, anything: [1, "a"] }, strings: { name: null, nothing: null }, unknown: 1 };
    const stored = await place.client.create(Wide, asWritten(place.cluster, spec));
    expect(stored.spec.kubernetes).toMatchObject({ template, anything: [1, "a"] });
    expect(stored.spec).not.toHaveProperty("unknown");
    expect(stored.spec.strings).toEqual({ choice: "Auto", nothing: null });
  });

  it("rejects a change of an immutable field, and a name that is too long", async () => {
    await using place = await wideCluster();
    const { client, cluster } = place;
    await client.create(Wide, asWritten(cluster, { strings: { "storage-size": "1Gi" } }));
    const body = { spec: { strings: { "storage-size": "2Gi" } } };
    const change = client.patch(Wide, { namespace: cluster.defaultNamespace, name: "a" }, { type: "merge", body });
    await expect(change).rejects.toThrow("this field cannot be changed");
    const long = client.create(Wide, asWritten(cluster, {}, "a".repeat(21)), { dryRun: true });
    await expect(long).rejects.toThrow("the name must have at most 20 characters");
  });

  it("rejects an invalid status, and merges conditions by type", async () => {
    await using place = await wideCluster();
    const { client, cluster } = place;
    const metadata = { name: "a", namespace: cluster.defaultNamespace };
    await client.create(Wide, asWritten(cluster, {}));
    const stated = (type: string, reason: string) => ({
      type,
      status: "True",
      reason,
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    const report = (fieldManager: string, status: object) =>
      client.apply(Wide, { metadata, status } as never, { fieldManager, subresource: "status" });
    await report("one", { conditions: [stated("Ready", "AllThere")] });
    const both = await report("two", { conditions: [stated("Paused", "Active")] });
    expect(both.status?.conditions?.map(({ type }) => type)).toEqual(["Ready", "Paused"]);
    expect(both.status?.replicas).toBe(0);
    await expect(report("three", { conditions: [{ type: "Odd", status: "Perhaps" }] })).rejects.toThrow(ApiError);
  });
});

describe("the requests of kubectl", () => {
  it("print the columns, scale and select by field", async () => {
    await using place = await wideCluster();
    const { client, cluster } = place;
    const ref = { namespace: cluster.defaultNamespace, name: "a" };
    await client.create(Wide, asWritten(cluster, { strings: { "storage-size": "1Gi" } }));
    const ready = {
      type: "Ready",
      status: "False",
      reason: "SomeMissing",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const body = { status: { replicas: 1, selector: "app=a", conditions: [ready] } };
    await client.patch(Wide, ref, { type: "merge", body }, { subresource: "status" });
    const path = `/apis/schema.memhog.test/v1/namespaces/${ref.namespace}/wides`;
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { columnDefinitions, rows } = JSON.parse(await client.request({ path, headers }));
    const narrow = columnDefinitions.filter(({ priority }: { priority: number }) => priority === 0);
    const names = narrow.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["Name", "Desired", "Size", "Ready", "Reason", "Age"]);
    expect(rows[0].cells.slice(0, 5)).toEqual(["a", 1, "1Gi", "False", "SomeMissing"]);

    const scale = await client.get(Wide, ref, { subresource: "scale" });
    expect(scale).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 1, selector: "app=a" } });
    await client.update(Wide, { ...scale, metadata: ref, spec: { replicas: 7 } } as never, { subresource: "scale" });
    const selected = async (fieldSelector: string) =>
      (await client.list(Wide, { namespace: ref.namespace, fieldSelector })).items.map(({ metadata }) => metadata.name);
    expect([await selected("spec.replicas=7"), await selected("spec.replicas=1")]).toEqual([["a"], []]);
  });
});

describe("installCrds", () => {
  it("changes an existing definition, and fails at once if its names are taken", async () => {
    await using place = await wideCluster();
    const { client, clock } = place;
    const definition = { group: "schema.memhog.test", version: "v1", kind: "Thief", spec: z.object({}) };
    const name = "thieves.schema.memhog.test";
    try {
      const Thief = defineResource({ ...definition, plural: "thieves", shortNames: ["th"], description: "Before." });
      await installCrds(client, [Thief], { clock });
      await installCrds(client, [defineResource({ ...Thief.definition, description: "After." })], { clock });
      const { spec } = await client.get(CustomResourceDefinition, { name });
      expect(spec.versions[0]?.schema?.openAPIV3Schema?.description).toBe("After.");
    } finally {
      await client.delete(CustomResourceDefinition, { name });
    }
    const Twin = defineResource({ ...definition, kind: "Twin", shortNames: ["wyd"] });
    try {
      await expect(installCrds(client, [Twin], { clock })).rejects.toThrow(CrdNotEstablishedError);
    } finally {
      await client.delete(CustomResourceDefinition, { name: "twins.schema.memhog.test" });
    }
  });
});
