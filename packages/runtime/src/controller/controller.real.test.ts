// Real Kubernetes, because here somebody is not the admin: a controller whose rights are missing, or are taken away.
import { testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Role } from "../objects/kinds/rbac.ts";
import { may } from "../schema/access.ts";
import { rolesFor, rulesFor } from "../schema/rbac.ts";
import { eventually } from "../testing/eventually.ts";
import { choirs, stageOn } from "./choir.fixture.ts";

describe("A1: refusals (of real rights: in the simulator everyone is admin)", () => {
  it("403 becomes a condition and a long wait, and goes when the right is there", async () => {
    await using on = await stageOn(await testCluster());
    const without = choirs().grants.map((grant) => {
      if (grant.kind !== ConfigMap) return grant;
      return may(ConfigMap, "get", "list", "watch", "delete");
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
    // Two singers, each of them tried: one refusal does not keep the other from being tried. And the status is news about the
    // object, so it was looked at once or twice more; then comes the long wait.
    expect(attempts.length).toBeLessThanOrEqual(6);
    expect(await on.singers("a")).toEqual([]);
    const rules = rulesFor(choirs().grants);
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules } });
    await on.put("a", { song: "allowed" });
    await on.complete("a");
  });

  it("rights that are taken away degrade, and come back", async () => {
    await using on = await stageOn(await testCluster());
    const { namespace } = on;
    const roles = { name: "operator", namespace, namespaces: [namespace], clusterKinds: false };
    await on.cluster.apply(...rolesFor(choirs().grants, roles));
    await using choir = await on.perform(choirs(), await on.cluster.kubeconfigFor({ serviceAccount: "operator" }));
    await on.put("a", {});
    await on.complete("a");
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules: [] } });
    // Watches go on until they end; these end after two seconds, and then are refused.
    await eventually(
      () => choir.runner.synced,
      (synced) => !synced,
    );
    await on.put("a", { singers: 3, song: "meanwhile" });
    await on.client.patch(Role, { namespace, name: "operator" }, { type: "merge", body: { rules: rulesFor(choirs().grants) } });
    await on.complete("a");
  });
});
