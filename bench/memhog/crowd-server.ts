// Runs a static cluster: the simulator's API server with apps whose pods run, and an endpoint that responds to the
// operator's Prometheus query. It has no controllers and no nodes, because the benchmark measures an operator with a
// given number of pods, not how fast pods start.
//
//     node bench/memhog/crowd-server.ts KUBECONFIG     reads the number of pods from stdin, line by line
//
// It prints {"prometheus": "http://…"} first, and {"pods": n} once there are n pods.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { AppMemory, AppMonitor } from "@memhog/memhog-operator";
import { Deployment, installCrds, Node, Pod, systemEnvironment } from "@memhog/runtime";
import { ReplicaSet, ServiceAccount } from "@memhog/runtime/kinds";
import { fullCluster, startSimulator } from "@memhog/simulator";
import { crowdNode, deploymentOf, podOf, podsPerApp, podsPerNode, replicaSetOf, seriesOf, statusOf } from "./crowd.ts";

const environment = systemEnvironment();
const components = [...fullCluster()].filter(({ name }) => name !== "controllers");
const simulator = await startSimulator({ environment, http: { tls: true }, components });
const client = simulator.client();
await installCrds(client, [AppMonitor, AppMemory], { clock: environment.clock });
const spec = { memThresholdPercent: 75, memMultiplier: 2 };
await client.create(AppMonitor, { metadata: { namespace: "default", name: "johnny-cache" }, spec: spec as AppMonitor["spec"] }); // the server adds the defaults
await client.create(ServiceAccount, { metadata: { namespace: "default", name: "default" } });
writeFileSync(process.argv[2] ?? "", simulator.kubeconfig ?? "", { mode: 0o600 });

let pods = 0;
const prometheus = createServer((_, response) => {
  const result = Array.from({ length: pods }, (_, at) => seriesOf(at, Date.now()));
  const body = JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
  response.writeHead(200, { "content-type": "application/json" }).end(body);
});
await new Promise<void>((listening) => prometheus.listen(0, "127.0.0.1", listening));
say({ prometheus: `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}` });

for await (const line of createInterface({ input: process.stdin })) {
  for (const wanted = Number(line); pods < wanted; pods += podsPerApp) await addApp(pods / podsPerApp);
  say({ pods });
}
process.exit(0); // the parent process has exited

async function addApp(app: number): Promise<void> {
  if ((app * podsPerApp) % podsPerNode === 0) await addNode((app * podsPerApp) / podsPerNode);
  const deployment = await client.create(Deployment, deploymentOf(app));
  const replicaSet = await client.create(ReplicaSet, replicaSetOf(app, deployment));
  for (let at = app * podsPerApp; at < (app + 1) * podsPerApp; at += 1) {
    const pod = await client.create(Pod, podOf(at, replicaSet));
    await client.update(Pod, { ...pod, status: { ...pod.status, ...statusOf(at, environment.clock.now()) } } as never, {
      subresource: "status",
    });
  }
}

async function addNode(at: number): Promise<void> {
  const node = crowdNode(at);
  const made = await client.create(Node, node);
  await client.update(Node, { ...made, status: node.status } as never, { subresource: "status" });
}

function say(what: object): void {
  console.log(JSON.stringify(what));
}
