// An API server that asks whether who makes a child may hold up the deletion of its owner, as OpenShift's does. No other cluster of
// ours asks, so this is where `update` on the finalizers of an owner (schema/implied-access.ts) is seen to be needed, and to suffice.
import { startCluster } from "@memhog/localcluster";
import { expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { ownerReferenceTo } from "../objects/owner.ts";
import { rolesFor } from "../schema/rbac.ts";
import { eventually } from "../testing/eventually.ts";
import { Choir, choirs, stageOn } from "./choir.fixture.ts";

it("S1: where owner references are enforced, children take the right to their owner's finalizers (real RBAC and admission)", async () => {
  const enforcing = { admissionPlugins: ["OwnerReferencesPermissionEnforcement"], controllers: [] };
  await using on = await stageOn(await startCluster(enforcing));
  const { namespace, client, cluster } = on;
  const start = async (name: string, grants: ReturnType<typeof choirs>["grants"]) => {
    await cluster.apply(...rolesFor(grants, { name, namespace, namespaces: [namespace] }));
    return on.perform(choirs(), await cluster.kubeconfigFor({ serviceAccount: name }));
  };
  // It learns of new kinds every half minute, and until then refuses even us.
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
