import { expect, it } from "vitest";
import { ClusterRole, Role } from "../objects/kinds/access.ts";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import { clusterWorld } from "../testing/cluster-world.fixture.ts";
import { findByList } from "./key-state.ts";

const { signal } = new AbortController();

it("findByList returns the current object with this name, or undefined", async () => {
  await using on = await clusterWorld();
  const { client, namespace } = on;
  for (const name of ["a", "ab"]) await client.create(ConfigMap, { metadata: { namespace, name } });
  const found = await findByList(client, ConfigMap, { namespace, name: "a" }, signal);
  expect(found).toEqual(await client.get(ConfigMap, { namespace, name: "a" }));
  expect(await findByList(client, ConfigMap, { namespace, name: "b" }, signal)).toBeUndefined();
  expect(await findByList(client, ConfigMap, { namespace: "default", name: "ab" }, signal)).toBeUndefined();
  expect((await findByList(client, Namespace, { name: namespace }, signal))?.metadata.name).toBe(namespace);
});

it.each(["system:a", "a=b", "a,metadata.name=b", "a\\b", "a=,\\=="])(
  "findByList escapes the name %s in its field selector",
  async (name) => {
    await using on = await clusterWorld();
    const { client, namespace } = on;
    for (const each of [name, "b"]) await client.create(Role, { metadata: { namespace, name: each }, rules: [] });
    expect((await findByList(client, Role, { namespace, name }, signal))?.metadata.name).toBe(name);
    expect(await findByList(client, ClusterRole, { name }, signal)).toBeUndefined();
  },
);
