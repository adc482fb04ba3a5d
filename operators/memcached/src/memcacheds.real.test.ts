// Real Kubernetes, because here containers run: the real memcached, made into an image of Debian's package, and a client that
// stores and reads a value.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyboxImage, programImage } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { crdOf, operator, silentLogger } from "@memhog/runtime";
import { beforeAll, expect, it } from "vitest";
import { Memcached } from "./api.ts";
import { name } from "./manifests.ts";
import { memcacheds } from "./memcacheds.ts";

const versions = ["1.6.18", "1.6.18-again"]; // one program, two tags: a rollout does not look inside
const shell = "memhog/shell:test";

async function loadBuilt(cluster: TestCluster, build: (output: string) => Promise<string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  try {
    await cluster.load(await build(join(folder, "image.tar")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await loadBuilt(cluster, (output) => busyboxImage({ name: shell, output }));
  const server = { programs: ["/usr/bin/memcached"], packages: ["memcached"] };
  for (const version of versions)
    await loadBuilt(cluster, (output) => programImage({ ...server, name: `memcached:${version}`, output }));
});

/** What a server answers to these lines, sent from a pod of its own. */
async function ask(cluster: TestCluster, pod: string, host: string, ...lines: readonly string[]): Promise<string> {
  const words = [...lines, "quit"].map((line) => `${line}\\r\\n`).join("");
  const command = ["sh", "-c", `printf '${words}' | nc ${host} 11211`];
  const container = { name: "client", image: shell, imagePullPolicy: "Never", command };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: pod },
    spec: { restartPolicy: "Never", containers: [container] },
  });
  await cluster.eventually(
    () => cluster.pod(pod),
    (found) => found?.status.phase === "Succeeded",
  );
  return cluster.kubectl("logs", pod);
}

it("a client stores a value and reads it; versions roll; a version that does not exist is not available", {
  timeout: 400_000,
}, async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await cluster.apply(crdOf(Memcached));
  await using ending = new AsyncDisposableStack();
  const stop = new AbortController();
  const running = operator({
    ...{ name, controllers: [memcacheds({ repository: "memcached" })], kubeconfig: cluster.kubeconfig },
    ...{ namespaces: [cluster.defaultNamespace], metricsBindAddress: "0", healthProbeBindAddress: "0", log: silentLogger },
  }).run(stop.signal);
  ending.defer(async () => {
    stop.abort();
    await running;
  });
  const kubectl = (...args: readonly string[]) => cluster.kubectl(...args);
  await kubectl("label", "namespace", cluster.defaultNamespace, "pod-security.kubernetes.io/warn=restricted");
  const object = (version: string) => ({
    apiVersion: "cache.example.com/v1alpha1",
    kind: "Memcached",
    metadata: { name: "cache" },
    spec: { size: 3, version },
  });
  await cluster.apply(object("1.6.18"));
  await kubectl("wait", "mc/cache", "--for=jsonpath={.status.version}=1.6.18", "--timeout=120s");
  expect(await kubectl("get", "mc")).toMatch(/cache +3 +3 +1\.6\.18 +True +Settled/);

  const [first = ""] = JSON.parse(await kubectl("get", "mc", "cache", "-o", "jsonpath={.status.nodes}"));
  const { podIP } = (await cluster.pod(first))?.status ?? {};
  const answer = await ask(cluster, "client", podIP, "set greeting 0 0 5", "hello", "get greeting", "stats settings");
  expect(answer.replaceAll("\r", "")).toContain("STORED\nVALUE greeting 0 5\nhello\nEND\n");
  expect(answer).toMatch(/STAT maxbytes 67108864/);

  await cluster.apply(object("1.6.18-again"));
  await kubectl("wait", "mc/cache", "--for=jsonpath={.status.version}=1.6.18-again", "--timeout=120s");
  await cluster.apply(object("does-not-exist"));
  await kubectl("wait", "mc/cache", "--for=condition=Available=False", "--timeout=120s");
  expect(await kubectl("get", "mc", "cache", "-o", 'jsonpath={.status.conditions[?(@.type=="Degraded")].reason}')).toBe(
    "ImageNotPulled",
  );
  expect(await kubectl("get", "mc", "cache", "-o", "jsonpath={.status.readyReplicas}")).toBe("3");
  await kubectl("delete", "mc", "cache", "--timeout=120s");
  expect(await kubectl("get", "pods", "-l", "app.kubernetes.io/name=memcached", "-o", "name")).toBe("");
});
