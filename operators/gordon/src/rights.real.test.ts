// Real Kubernetes, because here somebody is not the admin: the operator, with the rights that deploy/ gives it in one namespace. What
// it used of them, the audit log of a real API server knows.
import { testCluster } from "@memhog/localcluster/testing";
import { rolesFor } from "@memhog/runtime/schema";
import { auditOf, eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { gordons } from "./gordons.ts";
import { stageOn } from "./stage.fixture.ts";

it("S1: the generated Role is sufficient and minimal (with real RBAC: in the simulator everyone is admin)", async () => {
  await using on = await stageOn(await testCluster());
  const { namespace, cluster } = on;
  const { grants } = gordons({ image: "gordon:test" });
  await cluster.apply(...rolesFor(grants, { name: "gordon-operator", namespace, namespaces: [namespace] }));
  await on.start({ kubeconfig: await cluster.kubeconfigFor({ serviceAccount: "gordon-operator" }) });
  await on.ask("a", 2);
  await on.settled("a", 2);
  // Twice: what is told again is counted in its Event, which takes a right of its own.
  for (let failures = 0; failures < 2; failures += 1) {
    const before = await podOf(on, "gordon-a-0");
    await on.say("gordon-a-0", "Failed");
    await eventually(
      () => podOf(on, "gordon-a-0"),
      (pod) => pod !== undefined && pod.metadata.uid !== before?.metadata.uid,
      { timeoutMs: 40_000 },
    );
  }
  await on.ask("a", 1);
  await on.settled("a", 1);
  const user = `system:serviceaccount:${namespace}:gordon-operator`;
  // Only clusters that enforce owner references ask for it: seen in the runtime's owner-references.real.test.ts.
  const unused = ["update gordons/finalizers of operator.prgcont.cz"];
  const audited = await eventually(
    () => auditOf({ auditLog: cluster.auditLog, user, grants }),
    (found) => found.unused.length <= unused.length, // the log is written a moment after the deed
  );
  expect(audited).toEqual({ unused, refused: [] });
});

async function podOf(on: Awaited<ReturnType<typeof stageOn>>, name: string) {
  return (await on.pods("a")).find(({ metadata }) => metadata.name === name);
}
