// Runs on real Kubernetes, because the simulator does not enforce RBAC: a controller without permissions, or with revoked ones.
import { testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import { Role } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { allow } from "../schema/permissions.ts";
import { rolesFor, rulesFor } from "../schema/rbac.ts";
import { eventually } from "../testing/eventually.ts";
import { choirs, stageOn } from "./choir.fixture.ts";

describe("A1: missing permissions (real RBAC)", () => {
  it("a 403 becomes a condition and a long back-off, and the condition is cleared when the permission is granted", async () => {
    await using on = await stageOn(await testCluster());
    const without = choirs().grants.map((grant) => {
      if (grant.kind !== ConfigMap) return grant;
      return allow(ConfigMap, "get", "list", "watch", "delete");
    });
    const { namespace } = on;
    const roles = { name: "operator", namespace, namespaces: [namespace], clusterKinds: false };
    await on.cluster.apply(...rolesFor(without, roles));
    await using choir = await on.perform(choirs(), await on.cluster.kubeconfigFor({ serviceAccount: "operator" }));
    await on.put("a", {});
    await on.says("a", "Stuck");
    await on.put("b", {});
    await on.says("b", "Stuck");
    const attempts = choir.journal.writes.filter(({ path }) => path.includes("/configmaps/a-"));
    // Both singers are tried: one rejection does not prevent the other attempt. The status write triggers one or two more
    // reconciles; then comes the long back-off.
    expect(attempts.length).toBeLessThanOrEqual(6);
    expect(await on.singers("a")).toEqual([]);
    const rules = rulesFor(choirs().grants);
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules } });
    await on.put("a", { song: "allowed" });
    await on.complete("a");
  });

  it("revoked permissions degrade the controller until they are granted again", async () => {
    await using on = await stageOn(await testCluster());
    const { namespace } = on;
    const roles = { name: "operator", namespace, namespaces: [namespace], clusterKinds: false };
    await on.cluster.apply(...rolesFor(choirs().grants, roles));
    await using choir = await on.perform(choirs(), await on.cluster.kubeconfigFor({ serviceAccount: "operator" }));
    await on.put("a", {});
    await on.complete("a");
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules: [] } });
    // Open watches continue until they end; these end after two seconds, and new ones are rejected.
    await eventually(
      () => choir.runner.synced,
      (synced) => !synced,
    );
    await on.put("a", { singers: 3, song: "meanwhile" });
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules: rulesFor(choirs().grants) } });
    await on.complete("a");
  });
});
