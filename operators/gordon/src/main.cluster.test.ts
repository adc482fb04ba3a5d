// The program as from a laptop, on any cluster: `npm run gordon -- --kubeconfig … --install-crds`.
import { join } from "node:path";
import { startProgram } from "@memhog/localcluster/testing";
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";

it("installs its CRD, reconciles with its flags, and shuts down gracefully", async () => {
  await using cluster = await testCluster();
  const namespace = cluster.defaultNamespace;
  const here = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
  const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const main = join(import.meta.dirname, "main.ts");
  await using _program = startProgram(main, ...here, "--install-crds", "--image=gordon:laptop", ...nowhere);
  const metadata = { name: "a" };
  const gordon = { apiVersion: "operator.prgcont.cz/v1", kind: "Gordon", metadata, spec: { gordon: { replicas: 2 } } };
  await cluster.eventually(
    () => cluster.apply(gordon),
    () => true,
  );
  const pods = () => cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace });
  const made = await cluster.eventually(pods, (found) => found.length === 2);
  expect(made.map(({ spec }) => spec.containers[0].image)).toEqual(["gordon:laptop", "gordon:laptop"]);
});
