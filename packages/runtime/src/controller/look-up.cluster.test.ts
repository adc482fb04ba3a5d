import { expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Namespace } from "../objects/kinds/core/namespace.ts";
import { ClusterRole, Role } from "../objects/kinds/rbac.ts";
import { clusterWorld } from "../testing/cluster-world.ts";
import { lookUp } from "./look-up.ts";

const { signal } = new AbortController();

it("finds the one object of a name, as it is now, or none", async () => {
  await using on = await clusterWorld();
  const { client, namespace } = on;
  for (const name of ["a", "ab"]) await client.create(ConfigMap, { metadata: { namespace, name } });
  const found = await lookUp(client, ConfigMap, { namespace, name: "a" }, signal);
  expect(found).toEqual(await client.get(ConfigMap, { namespace, name: "a" }));
  expect(await lookUp(client, ConfigMap, { namespace, name: "b" }, signal)).toBeUndefined();
  expect(await lookUp(client, ConfigMap, { namespace: "default", name: "ab" }, signal)).toBeUndefined();
  expect((await lookUp(client, Namespace, { name: namespace }, signal))?.metadata.name).toBe(namespace);
});

it.each(["system:a", "a=b", "a,metadata.name=b", "a\\b", "a=,\\=="])("finds a Role with the odd name %s", async (name) => {
  await using on = await clusterWorld();
  const { client, namespace } = on;
  for (const each of [name, "b"]) await client.create(Role, { metadata: { namespace, name: each }, rules: [] });
  expect((await lookUp(client, Role, { namespace, name }, signal))?.metadata.name).toBe(name);
  expect(await lookUp(client, ClusterRole, { name }, signal)).toBeUndefined();
});
