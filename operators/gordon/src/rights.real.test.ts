// Real Kubernetes, because here somebody is not the admin: the operator, with the rights that deploy/ gives it in one namespace.
import { testCluster } from "@memhog/localcluster/testing";
import { rolesFor } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { gordons } from "./gordons.ts";
import { stageOn } from "./stage.fixture.ts";

it("the Role that is generated suffices (judged by real RBAC: in the simulator everyone is admin)", async () => {
  await using on = await stageOn(await testCluster());
  const { namespace } = on;
  const { grants } = gordons({ image: "gordon:test" });
  await on.cluster.apply(...rolesFor(grants, { name: "gordon-operator", namespace, namespaces: [namespace] }));
  const instance = await on.start({ kubeconfig: await on.cluster.kubeconfigFor({ serviceAccount: "gordon-operator" }) });
  await on.ask("a", 2);
  await on.settled("a", 2);
  await on.say("gordon-a-0", "Failed");
  await on.ask("a", 1);
  await eventually(
    () => on.pods("a"),
    ([pod, ...others]) => others.length === 0 && pod?.status?.phase === "Pending",
  );
  expect(instance.journal.calls.filter(({ status = 0 }) => status === 403)).toEqual([]);
});
