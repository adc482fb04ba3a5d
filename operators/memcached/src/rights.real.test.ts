// Real Kubernetes, because here somebody is not the admin: the operator, with the rights that deploy/ gives it in one namespace. What
// it used of them, the audit log of a real API server knows.
import { testCluster } from "@memhog/localcluster/testing";
import { rolesFor } from "@memhog/runtime/schema";
import { auditOf, eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { memcacheds } from "./memcacheds.ts";
import { stageOn } from "./stage.fixture.ts";

it("S1: the generated Role is sufficient and minimal (with real RBAC: in the simulator everyone is admin)", async () => {
  await using on = await stageOn(await testCluster());
  const { namespace, cluster } = on;
  const { grants } = memcacheds({ repository: "memcached" });
  await cluster.apply(...rolesFor(grants, { name: "memcached-operator", namespace, namespaces: [namespace] }));
  await on.start({ kubeconfig: await cluster.kubeconfigFor({ serviceAccount: "memcached-operator" }) });
  await on.ask("a", { size: 3 });
  await on.settled("a", 3);
  // Twice: what is told again is counted in its Event, which takes a right of its own.
  for (let times = 0; times < 2; times += 1) {
    await on.patchDeployment("a", { spec: { replicas: 4 } });
    await eventually(
      () => on.deployment("a"),
      (deployment) => deployment?.spec.replicas === 3,
    );
    await on.settled("a", 3);
  }
  await on.remove("a");
  await on.gone("a");
  const user = `system:serviceaccount:${namespace}:memcached-operator`;
  // Only clusters that enforce owner references ask for it: seen in the runtime's owner-references.real.test.ts.
  const unused = ["update memcacheds/finalizers of cache.example.com"];
  const audited = await eventually(
    () => auditOf({ auditLog: cluster.auditLog, user, grants }),
    (found) => found.unused.length <= unused.length, // the log is written a moment after the deed
  );
  expect(audited).toEqual({ unused, refused: [] });
});
