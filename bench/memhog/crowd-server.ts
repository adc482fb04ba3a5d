// A cluster that stands still, as a program: the API server of the simulator, filled with apps whose pods run, and an answer to the
// operator's one question to Prometheus. No controllers and no nodes work here: what is measured is an operator with so many pods to
// look after, not how fast they come.
//
//     node bench/memhog/crowd-server.ts KUBECONFIG     then on stdin, line by line: how many pods there are to be
//
// It says {"prometheus": "http://…"} first, and {"pods": n} when there are n.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { AppMemory, AppMonitor } from "@memhog/memhog-operator";
import { Deployment, installCrds, Node, Pod, ReplicaSet, ServiceAccount, systemEnvironment } from "@memhog/runtime";
import { startSimulator, wholeCluster } from "@memhog/simulator";
import { crowdNode, deploymentOf, podOf, podsPerApp, podsPerNode, replicaSetOf, seriesOf, statusOf } from "./crowd.ts";

const environment = systemEnvironment();
const parts = [...wholeCluster()].filter(({ name }) => name !== "controllers");
const simulator = await startSimulator({ environment, http: { tls: true }, parts });
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
process.exit(0); // whoever asked for it has gone

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
