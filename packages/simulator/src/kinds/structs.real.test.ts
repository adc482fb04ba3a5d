// Compares our structs with the OpenAPI document of a real API server.
import { testCluster } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { isObject, type JsonObject, objectAt } from "../json.ts";
import { builtInKinds } from "./built-in.ts";
import { structNamed, structNameOf } from "./structs.ts";

const prefix = /^io\.k8s\.(api|apimachinery\.pkg\.apis|apiextensions-apiserver\.pkg\.apis)\./;

it("the fields of built-in kinds match the real API server", async () => {
  await using cluster = await testCluster();
  const { definitions } = await cluster.request<{ definitions: JsonObject }>("GET", "/openapi/v2");
  const real = new Map(Object.entries(definitions).map(([name, schema]) => [name.replace(prefix, ""), schema]));
  const seen = new Set<string>();
  const differences: string[] = [];
  const compare = (name: string) => {
    const [ours, theirs] = [structNamed(name), real.get(name)];
    if (ours === undefined || seen.has(name)) return;
    seen.add(name);
    const fields = isObject(theirs) ? Object.keys(objectAt(theirs, "properties")) : [];
    for (const field of fields) if (!ours.has(field)) differences.push(`${name} lacks ${field}`);
    for (const [field, { type }] of ours) {
      if (!fields.includes(field)) differences.push(`${name} has ${field}`);
      compare(type.replace(/^(\*|\[\]|\{\})+/, ""));
    }
  };
  for (const kind of builtInKinds) compare(structNameOf(kind));
  expect(differences).toEqual([]);
  expect(seen.size).toBeGreaterThan(300);
});
