// Real Kubernetes, because here containers run: the operator from its own manifests, in the cluster; the real memcached, made into
// an image of Debian's package; and a client that stores and reads a value.
import { join } from "node:path";
import { busyboxImage, packageImage, programImage } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { beforeAll, expect, it } from "vitest";

const deploy = join(import.meta.dirname, "../deploy");
const top = join(import.meta.dirname, "../../..");

const versions = ["1.6.18", "1.6.18-again"]; // one program, two tags: a rollout does not look inside
const shell = "memhog/shell:test";

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await cluster.loadBuilt((output) => busyboxImage({ name: shell, output }));
  const program = { top, folder: "operators/memcached", entrypoint: ["src/main.ts"] };
  await cluster.loadBuilt((output) => packageImage({ ...program, name: "memhog/memcached-operator:dev", output }));
  const server = { programs: ["/usr/bin/memcached"], packages: ["memcached"] };
  for (const version of versions)
    await cluster.loadBuilt((output) => programImage({ ...server, name: `memcached:${version}`, output }));
});

/** What a server answers to these lines, sent from a pod of its own. */
async function ask(cluster: TestCluster, pod: string, host: string, ...lines: readonly string[]): Promise<string> {
  const words = [...lines, "quit"].map((line) => `${line}\\r\\n`).join("");
  const command = ["sh", "-c", `printf '${words}' | nc ${host} 11211`];
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const container = { name: "client", image: shell, imagePullPolicy: "Never", command, securityContext };
  const nobody = { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: pod },
    spec: { restartPolicy: "Never", securityContext: nobody, containers: [container] },
  });
  await cluster.eventually(
    () => cluster.pod(pod),
    (found) => found?.status.phase === "Succeeded",
  );
  return cluster.kubectl("logs", pod);
}

const cache = (spec: object) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: { name: "cache" },
  spec,
});

/** As the README says, into the namespace that the manifests name; what was made goes with the test. */
async function install(cluster: TestCluster, folder: string): Promise<AsyncDisposable> {
  const there = (...args: readonly string[]) => cluster.kubectl("--namespace=default", ...args);
  await there("apply", "-k", join(deploy, "crd"));
  await there("apply", "-k", join(deploy, folder));
  await there("rollout", "status", "deployment/memcached-operator", "--timeout=100s");
  return { [Symbol.asyncDispose]: async () => void (await there("delete", "-k", join(deploy, folder))) };
}

/** What Prometheus would scrape of the operator. */
async function metricsOf(cluster: TestCluster): Promise<string> {
  const labels = "app.kubernetes.io/name=memcached-operator";
  const [operator] = await cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace: "default", labels });
  return cluster.request("GET", `/api/v1/namespaces/default/pods/http:${operator?.metadata.name}:8080/proxy/metrics`);
}

it("in the cluster: webhooks set defaults and reject, a client stores a value through the Service, versions roll out", {
  timeout: 400_000,
}, async () => {
  await using cluster = await testCluster({ nodes: "real" });
  const kubectl = (...args: readonly string[]) => cluster.kubectl(...args);
  await kubectl("label", "namespace", cluster.defaultNamespace, "pod-security.kubernetes.io/enforce=restricted");
  await using _operator = await install(cluster, "with-webhooks");
  // 0 servers is what only the webhook understands: the schema would refuse it.
  const [asked] = await cluster.eventually(
    () => cluster.apply(cache({ size: 0, version: "1.6.18" })),
    () => true,
  );
  expect(asked?.spec.size).toBe(3);
  await expect(cluster.apply(cache({ size: 4, version: "1.6.18" }))).rejects.toThrow("Cluster size must be an odd number");
  await kubectl("wait", "mc/cache", "--for=jsonpath={.status.version}=1.6.18", "--timeout=120s");
  expect(await kubectl("get", "mc")).toMatch(/cache +3 +3 +1\.6\.18 +True +Settled/);

  const [first = ""] = JSON.parse(await kubectl("get", "mc", "cache", "-o", "jsonpath={.status.nodes}"));
  const { podIP } = (await cluster.pod(first))?.status ?? {};
  const answer = await ask(cluster, "client", podIP, "set greeting 0 0 5", "hello", "get greeting", "stats settings");
  expect(answer.replaceAll("\r", "")).toContain("STORED\nVALUE greeting 0 5\nhello\nEND\n");
  expect(answer).toMatch(/STAT maxbytes 67108864/);

  await kubectl("scale", "deployment/cache", "--replicas=1");
  await kubectl("wait", "deployment/cache", "--for=jsonpath={.spec.replicas}=3", "--timeout=60s");
  const metrics = await metricsOf(cluster);
  expect(metrics).toMatch(/^memcached_deployment_size_undesired_count_total [1-9]/m);
  // Both are asked. What the validating one would refuse, the rules of the CRD refuse first.
  for (const type of ["mutate", "validate"])
    expect(metrics).toMatch(new RegExp(`webhook_requests_total\\{webhook="/${type}-.*",code="200"\\}`));

  await cluster.apply(cache({ size: 3, version: "1.6.18-again" }));
  await kubectl("wait", "mc/cache", "--for=jsonpath={.status.version}=1.6.18-again", "--timeout=120s");
  await cluster.apply(cache({ size: 3, version: "does-not-exist" }));
  await kubectl("wait", "mc/cache", "--for=condition=Available=False", "--timeout=120s");
  expect(await kubectl("get", "mc", "cache", "-o", 'jsonpath={.status.conditions[?(@.type=="Degraded")].reason}')).toBe(
    "ImageNotPulled",
  );
  expect(await kubectl("get", "mc", "cache", "-o", "jsonpath={.status.readyReplicas}")).toBe("3");
  await kubectl("delete", "mc", "cache", "--timeout=120s");
  expect(await kubectl("get", "pods", "-l", "app.kubernetes.io/name=memcached", "-o", "name")).toBe("");
});
