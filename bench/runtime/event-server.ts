// Serves a watch with timestamps: lists pods, then changes them at a given rate and stamps each event when it is written
// to the socket. A real API server does not report when it sent an event, and would share the two cores. Implements only
// what the contenders need: discovery of v1, list, and watch (also with initial events).
//
//     node event-server.ts --pods 5000      prints {"port": N}; then reads from stdin: "rate 1000 10000" = per second, in total
import { createServer, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { parseTarget } from "@memhog/runtime/http";
import { podOf } from "./pods.ts";

const { values } = parseArgs({ options: { pods: { type: "string", default: "5000" } } });
const pods = Array.from({ length: Number(values.pods) }, (_, index) => podOf(index));
const watchers = new Set<ServerResponse>();
let version = 1_000_000;

const discovery: Record<string, unknown> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
  "/version": { major: "1", minor: "37", gitVersion: "v1.37.1" },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [{ name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: ["get", "list", "watch"] }],
  },
};

const server = createServer((request, response) => {
  const url = parseTarget(request.url);
  if (url === undefined) return void response.writeHead(400).end();
  response.setHeader("content-type", "application/json");
  const known = discovery[url.pathname];
  if (known !== undefined) return void response.end(JSON.stringify(known));
  if (url.pathname !== "/api/v1/pods")
    return void response.writeHead(404).end(JSON.stringify({ kind: "Status", code: 404, reason: "NotFound" }));
  if (!/^(true|1)$/.test(url.searchParams.get("watch") ?? "")) {
    return void response.end(
      JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: `${version}` }, items: pods }),
    );
  }
  response.flushHeaders();
  if (url.searchParams.get("sendInitialEvents") === "true") {
    for (const pod of pods) response.write(event("ADDED", pod));
    const annotations = { "k8s.io/initial-events-end": "true" };
    response.write(
      event("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion: `${version}`, annotations } }),
    );
  }
  watchers.add(response);
  response.on("close", () => watchers.delete(response));
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: (server.address() as { port: number }).port })));
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [word, rate, total] = line.split(" ");
    if (word === "rate") void change(Number(rate), Number(total));
  })
  .on("close", () => process.exit(0));

/** Changes pods one after another at this rate (0: as fast as the sockets accept them), then prints that it is done. */
async function change(perSecond: number, total: number): Promise<void> {
  const since = performance.now();
  for (let sent = 0; sent < total; sent += 1) {
    if (perSecond > 0) {
      // Sends what is due every millisecond: one event at a time at 1,000 per second, as in a busy cluster.
      while (performance.now() - since < (sent * 1000) / perSecond) await new Promise((turn) => setTimeout(turn, 1));
    } else if (sent % 50 === 0) {
      await Promise.all(
        [...watchers].map((watcher) => watcher.writableNeedDrain && new Promise((drained) => watcher.once("drain", drained))),
      );
      await new Promise((turn) => setImmediate(turn));
    }
    const pod = pods[sent % pods.length];
    if (pod === undefined) return;
    version += 1;
    pod.metadata.resourceVersion = `${version}`;
    pod.metadata.annotations["bench/at"] = `${performance.timeOrigin + performance.now()}`;
    const line = event("MODIFIED", pod);
    for (const watcher of watchers) watcher.write(line);
  }
  console.log(JSON.stringify({ sent: total, ms: performance.now() - since }));
}

function event(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}
