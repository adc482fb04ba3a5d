// Real Kubernetes, because here somebody is not the admin: the operator, with the rights that deploy/ gives it in one namespace.
import { testCluster } from "@memhog/localcluster/testing";
import { rolesFor } from "@memhog/runtime";
import { expect, it } from "vitest";
import { memcacheds } from "./memcacheds.ts";
import { stageOn } from "./stage.fixture.ts";

it("an operator gets by with the Role that is generated (judged by real RBAC: in the simulator everyone is admin)", async () => {
  await using on = await stageOn(await testCluster());
  const { namespace } = on;
  const { grants } = memcacheds({ repository: "memcached" });
  await on.cluster.apply(...rolesFor(grants, { name: "memcached-operator", namespace, namespaces: [namespace] }));
  const instance = await on.start({ kubeconfig: await on.cluster.kubeconfigFor({ serviceAccount: "memcached-operator" }) });
  await on.ask("a", { size: 3 });
  await on.settled("a", 3);
  await on.remove("a");
  await on.gone("a");
  expect(instance.journal.calls.filter(({ status }) => status === 403)).toEqual([]);
});
