// Real Kubernetes, because the objects that Helm and kustomize install can only be compared after the API server has filled in its
// defaults.
import { join } from "node:path";
import { hogManifests } from "@memhog/hog";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import { alertGroups } from "./alerts.ts";
import { stubsOf } from "./monitoring.fixture.ts";
import { kustomized } from "./stage.fixture.ts";

const top = join(import.meta.dirname, "../../../..");
const chart = join(top, "operators/memhog/deploy/helm/memhog-operator");
const deploy = join(top, "operators/memhog/deploy");
const name = "memhog-operator";

const components = ["serviceMonitor", "prometheusRule", "networkPolicy"].flatMap((part) => ["--set", `${part}.enabled=true`]);

/** The kinds of an installation. */
const namespaced = ["ServiceAccount", "Role", "RoleBinding", "Deployment", "Service", "PodDisruptionBudget"];
const clusterWide = [...namespaced, "ClusterRole", "ClusterRoleBinding"];
const withWebhooks = [...clusterWide, "MutatingWebhookConfiguration"];
const optional = [...namespaced, "ServiceMonitor", "PrometheusRule", "NetworkPolicy"];

const variants = [
  { name: "in its namespace", folder: "operator", parts: [], kinds: namespaced, values: [] },
  { name: "cluster-wide", folder: "cluster-wide", parts: [], kinds: clusterWide, values: ["--set", "clusterWide=true"] },
  {
    ...{ name: "in place only", folder: "cluster-wide-in-place", parts: [], kinds: clusterWide },
    values: ["--set", "clusterWide=true,inPlaceOnly=true"],
  },
  {
    name: "in place only, in its namespace",
    folder: "operator-in-place",
    parts: [],
    kinds: namespaced,
    values: ["--set", "inPlaceOnly=true"],
  },
  {
    ...{ name: "with webhooks", folder: "with-webhooks", parts: [], kinds: withWebhooks },
    values: ["--set", "clusterWide=true,webhooks.enabled=true"],
  },
  {
    ...{ name: "with everything optional", folder: "operator", kinds: optional, values: components },
    parts: ["service-monitor", "prometheus-rule", "network-policy"],
  },
];

describe("Helm chart (real Helm and API server)", () => {
  it("passes helm lint with defaults and with everything enabled", async () => {
    await using cluster = await testCluster();
    for (const values of [[], [...components, "--set", "dashboard.enabled=true,clusterWide=true,webhooks.enabled=true"]])
      expect(await cluster.helm("lint", "--strict", chart, ...values)).toContain("0 chart(s) failed");
  });

  it.each(variants)(
    "installs the same objects as kustomize: $name",
    { timeout: 240_000 },
    async ({ folder, parts, kinds, values }) => {
      await using cluster = await testCluster();
      const other = await cluster.namespace();
      await cluster.apply(...stubsOf("ServiceMonitor", "PrometheusRule"));
      let expected: readonly unknown[];
      {
        await using _files = await kustomized(cluster, { namespace: other, variant: folder, components: parts });
        expected = await installedIn(cluster, other, kinds);
      }
      await cluster.helm("install", name, chart, ...values);
      const found = await installedIn(cluster, cluster.defaultNamespace, kinds);
      await cluster.helm("uninstall", name);
      expect(found).toEqual(expected);
      expect(found.length).toBeGreaterThanOrEqual(kinds.length);
      expect(await installedIn(cluster, cluster.defaultNamespace, kinds)).toEqual([]);
    },
  );

  it("creates a Role in every monitored namespace, with the Lease only in its own namespace", async () => {
    await using cluster = await testCluster();
    const other = await cluster.namespace();
    await cluster.helm("install", name, chart, "--set", `namespaces={${other}}`);
    const home = cluster.defaultNamespace;
    const as = `--as=system:serviceaccount:${home}:${name}`;
    const may = (namespace: string, ...right: readonly string[]) =>
      cluster.kubectl("auth", "can-i", ...right, `--namespace=${namespace}`, as).then(
        () => true,
        () => false, // kubectl exits with 1
      );
    const toResize = ["patch", "pods", "--subresource=resize"];
    const toLead = ["create", "leases"];
    expect([await may(other, ...toResize), await may(other, ...toLead)]).toEqual([true, false]);
    expect([await may(home, ...toResize), await may(home, ...toLead)]).toEqual([false, true]);
    const args = await cluster.kubectl("get", "deployment", name, "-o", "jsonpath={.spec.template.spec.containers[0].args}");
    expect(args).toContain(`--namespace=${other}`);
    await cluster.helm("uninstall", name);
  });

  it("mounts the Secret with Prometheus credentials and passes the files as flags", async () => {
    await using cluster = await testCluster();
    const auth = { secretName: "prom", bearerTokenKey: "token", username: "me", passwordKey: "password", caKey: "ca.crt" };
    const values = Object.entries(auth).map(([key, value]) => `prometheus.auth.${key}=${value}`);
    const text = await cluster.helm("template", name, chart, "--set", values.join());
    for (const flag of ["bearer-token-file=/etc/memhog/prometheus/token", "username=me", "ca-file=/etc/memhog/prometheus/ca.crt"])
      expect(text).toContain(`--prometheus-${flag}`);
    expect(text).toContain("secretName: prom");
  });

  const refused = [
    { name: "an unknown value", values: "replica=3", says: /replica/ },
    { name: "a key without secretName", values: "prometheus.auth.bearerTokenKey=token", says: /secretName/ },
    { name: "webhooks without clusterWide", values: "webhooks.enabled=true", says: /clusterWide/ },
    { name: "a malformed address", values: "prometheus.address=prometheus:9090", says: /address/ },
  ];
  it.each(refused)("rejects $name", async ({ values, says }) => {
    await using cluster = await testCluster();
    await expect(cluster.helm("template", name, chart, "--set", values)).rejects.toThrow(says);
  });
});

it("the sample Deployment equals the one of workloads/hog", async () => {
  await using cluster = await testCluster();
  const read = async (file: string) => JSON.parse(await cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", file));
  expect(await read(join(deploy, "samples/memhog.yaml"))).toEqual(await read(hogManifests.deployment));
});

it("Prometheus accepts the expression of every alert", async () => {
  await using cluster = await testCluster({ nodes: "real" });
  for (const { alert, expr } of alertGroups[0].rules) {
    const answer = await fetch(`${cluster.prometheus}/api/v1/query?query=${encodeURIComponent(expr)}`);
    expect([alert, await answer.json()]).toMatchObject([alert, { status: "success" }]);
  }
});

const kindsOfGroup: Readonly<Record<string, string>> = {
  ServiceAccount: "v1",
  Service: "v1",
  Deployment: "apps/v1",
  PodDisruptionBudget: "policy/v1",
  NetworkPolicy: "networking.k8s.io/v1",
  ServiceMonitor: "monitoring.coreos.com/v1",
  PrometheusRule: "monitoring.coreos.com/v1",
  MutatingWebhookConfiguration: "admissionregistration.k8s.io/v1",
};

/** The stored objects of an installation, without fields that differ between installations. */
async function installedIn(cluster: TestCluster, namespace: string, kinds: readonly string[]): Promise<readonly unknown[]> {
  const labels = `app.kubernetes.io/instance=${name}`;
  const found = await Promise.all(
    kinds.map((kind) => {
      const apiVersion = kindsOfGroup[kind] ?? "rbac.authorization.k8s.io/v1";
      const where = kind.startsWith("Cluster") || kind === "MutatingWebhookConfiguration" ? {} : { namespace };
      return cluster.list({ apiVersion, kind }, { ...where, labels });
    }),
  );
  return found.flat().map((object) => withoutTheIncidental(object, namespace));
}

const helmsOwn = ["helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"];

function withoutTheIncidental(object: object, namespace: string): unknown {
  const { metadata, status: _, ...rest } = JSON.parse(JSON.stringify(object).replaceAll(namespace, "the-namespace"));
  for (const label of helmsOwn) delete metadata.labels[label];
  for (const field of ["clusterIP", "clusterIPs"]) if (rest.spec) delete rest.spec[field];
  return { ...rest, name: metadata.name, labels: metadata.labels };
}
