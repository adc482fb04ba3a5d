// The @kubernetes/client-node contender: an informer for all pods. It has no queue and no reconciler, so a change counts
// as reconciled when its callback runs, which favors client-node.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";

const since = performance.now();
const { CoreV1Api, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
const config = new KubeConfig();
config.loadFromFile(process.argv[process.argv.indexOf("--kubeconfig") + 1]);
const api = config.makeApiClient(CoreV1Api);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

let latencies = [];
let changes = 0;
const note = (pod) => {
  const stamp = pod.metadata.annotations?.["bench/at"];
  if (stamp === undefined) return;
  changes += 1;
  latencies.push(performance.timeOrigin + performance.now() - Number(stamp));
};
const say = (line) => console.log(JSON.stringify(line));

const informer = makeInformer(config, "/api/v1/pods", () => api.listPodForAllNamespaces());
let known = 0;
informer.on("add", (pod) => {
  known += 1;
  note(pod);
});
informer.on("update", note);
// The reconnection code that its documentation recommends.
informer.on("error", (error) => {
  console.error(String(error));
  setTimeout(() => informer.start(), 5000);
});
await informer.start();
say({ event: "synced", ms: performance.now() - since, objects: informer.list().length || known });

createInterface({ input: process.stdin })
  .on("line", (line) => {
    if (line === "reset") {
      latencies = [];
      changes = 0;
      delay.reset();
    }
    if (line === "report") {
      latencies.sort((a, b) => a - b);
      const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? -1;
      say({ event: "report", changes, p50: at(0.5), p99: at(0.99), longestBlockMs: delay.max / 1e6 });
    }
    if (line === "calls") void callMany(1000, 20).then(() => say({ event: "called" }));
    if (line === "quit") process.exit(0);
  })
  .on("close", () => process.exit(0));

/** Reads one object from the server many times, several in parallel. */
async function callMany(count, atOnce) {
  const worker = async () => {
    for (let n = 0; n < count / atOnce; n += 1) await api.readNamespace({ name: "default" });
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
