// An API server with the admission plugin OwnerReferencesPermissionEnforcement, as on OpenShift: creating a child with
// blockOwnerDeletion requires `update` on the finalizers of its owner (schema/permissions.ts). Shows that this permission is
// necessary and sufficient.
import { startCluster } from "@memhog/localcluster";
import { expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { ownerReferenceTo } from "../objects/object.ts";
import { rolesFor } from "../schema/rbac.ts";
import { eventually } from "../testing/eventually.ts";
import { Choir, choirs, stageOn } from "./choir.fixture.ts";

it("S1: with OwnerReferencesPermissionEnforcement, creating children requires update on their owner's finalizers (real RBAC and admission)", async () => {
  const enforcing = { admissionPlugins: ["OwnerReferencesPermissionEnforcement"], controllers: [] };
  await using on = await stageOn(await startCluster(enforcing));
  const { namespace, client, cluster } = on;
  const start = async (name: string, grants: ReturnType<typeof choirs>["grants"]) => {
    await cluster.apply(...rolesFor(grants, { name, namespace, namespaces: [namespace] }));
    return on.perform(choirs(), await cluster.kubeconfigFor({ serviceAccount: name }));
  };
  // The plugin discovers new kinds every 30 seconds, and rejects even admins until then.
  const owner = await on.put("first", { singers: 0 });
  const metadata = { namespace, name: "asked", ownerReferences: [ownerReferenceTo(owner, Choir)] };
  await eventually(
    () =>
      client.create(ConfigMap, { metadata }, { dryRun: true }).then(
        () => true,
        () => false,
      ),
    (accepted) => accepted,
    { timeoutMs: 60_000 },
  );

  const { grants } = choirs();
  const without = await start(
    "without",
    grants.filter(({ subresource }) => subresource !== "finalizers"),
  );
  await on.put("a", {});
  const stuck = await on.says("a", "Stuck");
  expect(stuck?.status?.conditions?.[0]?.message).toContain("finalizers");
  await without.stop();

  await start("with", grants);
  await on.complete("a");
});
