// Measures the server alone: requests the same objects in three ways and discards the response. No client can be faster
// with the same request.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { Cluster } from "@memhog/localcluster";
import type { Figure } from "../report.ts";

const ways = {
  "a list in protobuf": { path: "/api/v1/pods", accept: "application/vnd.kubernetes.protobuf" },
  "a list in JSON": { path: "/api/v1/pods", accept: "application/json" },
  "a watch with initial events, in JSON": {
    path: "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    accept: "application/json",
  },
};

const rounds = 3;

export async function measureFloor(cluster: Cluster, size: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, way] of Object.entries(ways)) {
    console.error(`${size} pods, the server alone: ${name}`);
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await readAll(cluster, way));
    const median = times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
    figures.push({ name: `floor: ${name}, thrown away, ${size} pods`, unit: "ms", ours: median, peers: {} });
  }
  return figures;
}

/** Milliseconds from the request to the last byte, or to the bookmark that ends the initial events. */
function readAll(cluster: Cluster, { path, accept }: { readonly path: string; readonly accept: string }): Promise<number> {
  const kubeconfig = readFileSync(cluster.kubeconfig, "utf8");
  const data = (field: string) => Buffer.from(new RegExp(`${field}-data: (\\S+)`).exec(kubeconfig)?.[1] ?? "", "base64");
  const tls = { cert: data("client-certificate"), key: data("client-key"), ca: data("certificate-authority") };
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(`${cluster.server}${path}`, { ...tls, headers: { accept, "user-agent": "bench" } }, (response) => {
      const ended = () => {
        asked.destroy();
        resolve(performance.now() - since);
      };
      let tail = "";
      response.on("end", ended).on("data", (chunk: Buffer) => {
        tail = tail.slice(-100) + chunk.subarray(-400).toString("latin1");
        if (tail.includes("k8s.io/initial-events-end")) ended();
      });
    });
    asked.on("error", reject).end();
  });
}
