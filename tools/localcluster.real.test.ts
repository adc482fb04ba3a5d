import { join } from "node:path";
import { Deployment, Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { clientOf, commandLine } from "./localcluster.fixture.ts";

const labels = { app: "web" };
const containers = [{ name: "web", image: "example.com/web", resources: { requests: { cpu: "1" } } }];
const deployment = {
  metadata: { namespace: "default", name: "web" },
  spec: { replicas: 10, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
};

it("simulated nodes join a real control plane, and its scheduler places pods on them (needs a real kube-scheduler)", async () => {
  await using shell = await commandLine();
  const kubeconfig = join(shell.home, "kubeconfig");
  const started = await shell.run("up", "--nodes", "simulated=3", "--kubeconfig", kubeconfig);
  expect(started).toMatchObject({ code: 0 });
  await using client = await clientOf(kubeconfig);
  await client.create(Deployment, deployment);
  await eventually(
    () => client.get(Deployment, deployment.metadata),
    ({ status }) => status?.readyReplicas === 10,
  );
  // Each node has four CPUs, so ten pods of one CPU need all three nodes.
  const { items } = await client.list(Pod, { namespace: "default" });
  expect(new Set(items.map(({ spec }) => spec.nodeName))).toEqual(new Set(["node-1", "node-2", "node-3"]));
  expect((await shell.run("status")).out).toMatch(/^default +running +1\.\d+\.\d+ +simulated=3 /m);
  expect(await shell.run("down")).toMatchObject({ code: 0 });
});
