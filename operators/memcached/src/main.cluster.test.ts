// The program as from a laptop, on any cluster: `npm run memcached -- --kubeconfig … --install-crds`.
import { join } from "node:path";
import { startProgram } from "@memhog/localcluster/testing";
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";

it("installs its CRD, reconciles with its flags, and shuts down gracefully", async () => {
  await using cluster = await testCluster();
  const here = ["--kubeconfig", cluster.kubeconfig, "--namespace", cluster.defaultNamespace];
  const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const main = join(import.meta.dirname, "main.ts");
  await using _program = startProgram(main, ...here, "--install-crds", "--repository=example.com/cache", ...nowhere);
  const metadata = { name: "a" };
  await cluster.eventually(
    () => cluster.apply({ apiVersion: "cache.example.com/v1alpha1", kind: "Memcached", metadata, spec: { size: 1 } }),
    () => true,
  );
  const deployment = () => cluster.get({ apiVersion: "apps/v1", kind: "Deployment", metadata });
  const made = await cluster.eventually(deployment, (found) => found !== undefined);
  expect(made?.spec.template.spec.containers[0].image).toBe("example.com/cache:1.6");
});
