// Real Kubernetes, because it has an audit log. Installs the Helm chart for the whole cluster, raises memory once by every method, and
// compares the granted permissions with those that the audit log shows as used (S1).
//
// Uses its own cluster, because an operator for all namespaces would also monitor the pods of other tests.
import { join } from "node:path";
import { hogPod, loadHog } from "@memhog/hog";
import { type Cluster, startCluster } from "@memhog/localcluster";
import { permissionsOf } from "@memhog/runtime/operator";
import { auditOf } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { AppMonitor } from "../api/app-monitor.ts";
import { operatorName } from "../api/names.ts";
import { program } from "../cli/commands.ts";
import { loadOperator } from "./image.fixture.ts";
import { prometheusFor } from "./stage.fixture.ts";

const chart = join(import.meta.dirname, "../../deploy/helm/memhog-operator");
const home = "memhog-system";

it("S1: the granted permissions equal the used permissions in the audit log, for every method, installed by Helm", {
  timeout: 900_000,
}, async () => {
  await using cluster = await startCluster({ nodes: "real", prometheus: { scrapeInterval: "2s" }, audit: true });
  await loadHog(cluster);
  await loadOperator(cluster);
  await install(cluster);
  await cluster.apply(...everyRoad());
  for (const [what, path] of Object.entries(destinations)) await reaches(cluster, what, path, "192Mi");
  await cluster.eventually(
    () => cluster.kubectl("get", "pods", "-o", "name"),
    (pods) => /^pod\/alone-autoscaled$/m.test(pods) && !/^pod\/alone$/m.test(pods),
    { timeoutMs: 200_000 },
  );

  // A ReplicaSet does not replace its pods after a template change; memhog evicts them one by one.
  const sizes = "{.items[*].spec.containers[0].resources.limits.memory}";
  await reaches(cluster, "pods --selector=name=replicaset-set", sizes, "192Mi 192Mi");

  const leader = await cluster.kubectl(
    "get",
    "lease",
    operatorName,
    `--namespace=${home}`,
    "-o",
    "jsonpath={.spec.holderIdentity}",
  );
  const page = `/api/v1/namespaces/${home}/pods/http:${leader.split("_")[0]}:8082/proxy`;
  expect(await cluster.request("GET", `${page}/api/state`)).toMatchObject({
    apps: expect.arrayContaining([expect.objectContaining({ namespace: "default" })]),
  });

  await mistakenTwice(cluster);

  const { auditLog } = cluster;
  const audit = () =>
    auditOf({
      auditLog,
      user: `system:serviceaccount:${home}:${operatorName}`,
      grants: permissionsOf(program, { webhooks: false }),
    });
  // The audit log is written with a delay.
  await cluster.eventually(audit, ({ unused }) => unused.length === 0, { timeoutMs: 30_000 });
  expect((await audit()).refused).toEqual([]);
  await cluster.helm("uninstall", operatorName, `--namespace=${home}`, "--wait");
  expect(await cluster.kubectl("get", "appmonitors", "-o", "name")).toContain("appmonitor.kubedemo.com/redeploy"); // people's own
});

/** Installs as in deploy/README.md. */
async function install(cluster: Cluster): Promise<void> {
  const values = {
    clusterWide: true,
    "prometheus.address": await prometheusFor(cluster),
    interval: "5s",
    "dashboard.enabled": true,
  };
  const set = Object.entries(values).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  await cluster.kubectl("create", "namespace", home);
  await cluster.kubectl("label", "namespace", home, "pod-security.kubernetes.io/enforce=restricted");
  await cluster.helm("install", operatorName, chart, `--namespace=${home}`, ...set, "--wait", "--timeout=5m");
}

/** The objects whose memory must be raised: the pod, or the pod template of its owner. */
const destinations = {
  "pod/in-place": "{.status.containerStatuses[0].resources.limits.memory}",
  "pod/alone-autoscaled": "{.spec.containers[0].resources.limits.memory}",
  "deployment/web": "{.spec.template.spec.containers[0].resources.limits.memory}",
  "statefulset/web": "{.spec.template.spec.containers[0].resources.limits.memory}",
  "daemonset/web": "{.spec.template.spec.containers[0].resources.limits.memory}",
  "replicaset/set": "{.spec.template.spec.containers[0].resources.limits.memory}",
  "cronjob/web": "{.spec.jobTemplate.spec.template.spec.containers[0].resources.limits.memory}",
} as const;

async function reaches(cluster: Cluster, what: string, path: string, limit: string): Promise<void> {
  const read = () => cluster.kubectl("get", ...what.split(" "), "-o", `jsonpath=${path}`).catch(String);
  await cluster.eventually(read, (found) => found === limit, { timeoutMs: 240_000 });
}

/** Makes two AppMonitors select one pod twice: the second Event is a PATCH of the first, which needs its own permission. */
async function mistakenTwice(cluster: Cluster): Promise<void> {
  const twin = monitor("twin", { strategy: "InPlace", selector: { matchLabels: { strategy: "in-place" } } });
  const path = `jsonpath={.items[?(@.spec.app=="Pod/in-place")].status.reason}`;
  const reason = () => cluster.kubectl("get", "appmemories", "-o", path);
  for (let mistakes = 0; mistakes < 2; mistakes += 1) {
    await cluster.apply(twin);
    await cluster.eventually(reason, (found) => found === "AmbiguousMonitor", { timeoutMs: 60_000 });
    await cluster.kubectl("delete", "appmonitor/twin");
    await cluster.eventually(reason, (found) => found !== "AmbiguousMonitor", { timeoutMs: 60_000 });
  }
}

/** One small hog per method; each crosses its threshold within seconds and then stays there. */
function everyRoad(): readonly object[] {
  const hog = (name: string, strategy: string) => {
    const pod = hogPod({ name, args: ["--ramp", "20Mi/s", "--to", "65Mi"], limit: "96Mi", request: "48Mi", monitored: true });
    return { ...pod, metadata: { ...pod.metadata, labels: { name, strategy } } };
  };
  const owner = (kind: string, name = "web", more: object = {}) => {
    const { metadata, spec } = hog(`${kind.toLowerCase()}-${name}`, "redeploy");
    const { labels, annotations } = metadata;
    const template = { metadata: { labels, annotations }, spec };
    return { apiVersion: "apps/v1", kind, metadata: { name }, spec: { selector: { matchLabels: labels }, template, ...more } };
  };
  const { template } = owner("Job").spec;
  const job = { template: { ...template, spec: { ...template.spec, restartPolicy: "OnFailure" } } };
  const cronJob = { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate: { spec: job } };
  return [
    monitor("in-place", { strategy: "InPlace" }),
    monitor("redeploy", { strategy: "Redeploy" }),
    hog("in-place", "in-place"),
    hog("alone", "redeploy"),
    owner("Deployment"),
    // memhog does not redeploy the only Ready pod, so there are two of each, or one with a surge.
    owner("StatefulSet", "web", { serviceName: "web", replicas: 2 }),
    owner("DaemonSet", "web", { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    owner("ReplicaSet", "set", { replicas: 2 }),
    { apiVersion: "batch/v1", kind: "CronJob", metadata: { name: "web" }, spec: cronJob },
  ];
}

/** Selects the pods with the label of its name. */
function monitor(name: string, more: object): object {
  // Without lookahead, because the steep start of the hog would trigger a second raise.
  const spec = {
    memThresholdPercent: 75,
    memMultiplier: 2,
    lookaheadSeconds: 0,
    selector: { matchLabels: { strategy: name } },
    ...more,
  };
  return { apiVersion: `${AppMonitor.group}/v1`, kind: AppMonitor.kind, metadata: { name }, spec };
}
