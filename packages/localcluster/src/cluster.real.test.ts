// What can be done with a cluster, on a real API server: that is the only one that can say whether we speak its language.
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createApi } from "./api/client.ts";
import { testCluster } from "./testing.ts";

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

const widgets = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

describe("a shared cluster (real Kubernetes: it needs an API server)", () => {
  it("is ready, and reports its version", async () => {
    await using cluster = await testCluster();
    expect(await cluster.request("GET", "/readyz")).toBe("ok");
    expect(cluster.version).toMatch(/^1\.\d+\.\d+$/);
    expect(cluster.server).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  it("gives each test a namespace of its own, and deletes it afterwards", async () => {
    await using watching = await testCluster();
    let namespace = "";
    {
      await using cluster = await testCluster();
      namespace = cluster.defaultNamespace;
      expect(namespace).not.toBe(watching.defaultNamespace);
    }
    const reference = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await watching.eventually(
      () => watching.get(reference),
      (found) => found === undefined,
    );
  });

  it("applies YAML of several documents, lists and objects, and returns the objects", async () => {
    await using cluster = await testCluster();
    const yaml =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n---\n";
    const list = { apiVersion: "v1", kind: "List", items: [configMap("c")] };
    const applied = await cluster.apply(yaml, list, configMap("d"));
    expect(applied.map(({ metadata }) => [metadata.name, metadata.namespace])).toEqual(
      ["a", "b", "c", "d"].map((name) => [name, cluster.defaultNamespace]),
    );
    expect(applied.every(({ metadata }) => typeof metadata.uid === "string")).toBe(true);
  });

  it("applies a changed manifest", async () => {
    await using cluster = await testCluster();
    await cluster.apply(configMap("settings", { colour: "red", size: "9" }));
    await cluster.apply(configMap("settings", { colour: "blue" }));
    expect((await cluster.get(configMap("settings")))?.data).toEqual({ colour: "blue" });
  });

  it("applies a CRD and its object in one go, in either order", async () => {
    await using cluster = await testCluster();
    const group = `${cluster.defaultNamespace}.example.com`;
    const widget = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "one" }, spec: { size: 3 } };
    await cluster.apply(widget, widgets(group));
    expect((await cluster.get(widget))?.spec).toEqual({ size: 3 });
    await cluster.delete(widgets(group));
  });

  it("names a kind that is not served", async () => {
    await using cluster = await testCluster();
    const unknown = { apiVersion: "example.com/v1", kind: "Unicorn", metadata: { name: "x" } };
    await expect(cluster.apply(unknown)).rejects.toMatchObject({
      code: "INVALID_MANIFEST",
      message: expect.stringContaining("Unicorn"),
    });
  });

  it("reports the error of the API server for an invalid object", async () => {
    await using cluster = await testCluster();
    const bad = { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { containers: [] } };
    await expect(cluster.apply(bad)).rejects.toMatchObject({ code: "API_ERROR", status: 422, reason: "Invalid" });
  });

  it("lists by namespace and by label, and deletes", async () => {
    await using cluster = await testCluster();
    const namespace = cluster.defaultNamespace;
    const labelled = { ...configMap("b"), metadata: { name: "b", labels: { app: "web" } } };
    await cluster.apply(configMap("a"), labelled);
    const names = async (labels?: string) => {
      const found = await cluster.list({ apiVersion: "v1", kind: "ConfigMap" }, { namespace, ...(labels && { labels }) });
      return found.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
    };
    expect(await names()).toEqual(["a", "b"]);
    expect(await names("app=web")).toEqual(["b"]);
    await cluster.delete(labelled);
    await cluster.delete(labelled);
    expect(await names()).toEqual(["a"]);
  });

  it("runs kubectl in the namespace of the test", async () => {
    await using cluster = await testCluster();
    await cluster.apply(configMap("seen-by-kubectl"));
    expect(await cluster.kubectl("get", "configmaps", "-o", "name")).toContain("configmap/seen-by-kubectl");
    await expect(cluster.kubectl("get", "pod", "nobody")).rejects.toMatchObject({
      code: "KUBECTL",
      message: expect.stringContaining(`pods "nobody" not found`),
    });
  });

  it("garbage-collects dependents: the controllers run", async () => {
    await using cluster = await testCluster();
    const [owner] = await cluster.apply(configMap("owner"));
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner?.metadata.uid }];
    await cluster.apply({ ...configMap("owned"), metadata: { name: "owned", ownerReferences } });
    await cluster.delete(configMap("owner"));
    await cluster.eventually(
      () => cluster.get(configMap("owned")),
      (found) => found === undefined,
    );
  });
});

describe("a service account (real Kubernetes: RBAC decides)", () => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "jane" } };
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
  };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "jane-reads" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "jane" }],
  };

  it("has no permissions at first, and then exactly those granted", async () => {
    await using cluster = await testCluster();
    await cluster.apply(account);
    const jane = await createApi(await cluster.kubeconfigFor({ serviceAccount: "jane" }));
    const configMaps = `/api/v1/namespaces/${cluster.defaultNamespace}/configmaps`;
    await expect(jane.request("GET", configMaps)).rejects.toMatchObject({
      ...{ status: 403, reason: "Forbidden" },
      message: expect.stringContaining(`system:serviceaccount:${cluster.defaultNamespace}:jane`),
    });
    await cluster.apply(role, binding);
    await cluster.eventually(
      () => jane.request("GET", configMaps),
      () => true,
    );
    await expect(jane.request("GET", "/api/v1/namespaces/kube-system/configmaps")).rejects.toMatchObject({ status: 403 });
    await expect(jane.request("POST", configMaps, configMap("x"))).rejects.toMatchObject({ status: 403 });
    jane.close();
  });

  it("must exist to get a kubeconfig", async () => {
    await using cluster = await testCluster();
    await expect(cluster.kubeconfigFor({ serviceAccount: "nobody" })).rejects.toMatchObject({ status: 404 });
  });
});

describe("the audit log (real Kubernetes: its API server writes it)", () => {
  it("records the user and body of a write, but not the body of a secret", async () => {
    await using cluster = await testCluster();
    const canary = "c2VjcmV0LWNhbmFyeQ==";
    await cluster.apply(configMap("audited", { colour: "green" }));
    await cluster.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "hidden" }, data: { password: canary } });
    const lines = await cluster.eventually(
      async () =>
        (await readFile(cluster.auditLog ?? "", "utf8")).split("\n").filter((line) => line.includes(cluster.defaultNamespace)),
      (found) => found.some((line) => line.includes(`"name":"hidden"`)),
    );
    const written = lines.map((line) => JSON.parse(line)).find(({ objectRef }) => objectRef?.name === "audited");
    expect(written).toMatchObject({ verb: "patch", user: { username: "admin" }, requestObject: { data: { colour: "green" } } });
    expect(lines.join("\n")).not.toContain(canary);
  });
});
