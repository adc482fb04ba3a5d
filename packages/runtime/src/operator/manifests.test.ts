import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Node } from "../objects/kinds/core/node.ts";
import { may } from "../schema/access.ts";
import { Gordon } from "../schema/seed-operators.fixture.ts";
import { operatorManifests } from "./manifests.ts";

const options = {
  ...{ name: "gordon-operator", image: "gordon-operator:dev", namespace: "here", resources: [Gordon] },
  ...{ grants: [may(ConfigMap, "get")], samples: { "gordon.yaml": { kind: "Gordon" } } },
};
const kindsIn = (files: ReturnType<typeof operatorManifests>, path: string) =>
  (files[path] as readonly { readonly kind: string }[] | undefined)?.map(({ kind }) => kind);

describe("the manifests of an operator", () => {
  it("are a folder for kinds, one for each way to run it, and samples; each can be given to kubectl apply -k", () => {
    const files = operatorManifests(options);
    const folders = new Set(Object.keys(files).map((path) => path.split("/").slice(0, -1).join("/")));
    expect([...folders]).toEqual(["", "crd", "operator", "cluster-wide", "samples"]);
    for (const folder of ["", "crd/", "operator/", "cluster-wide/"])
      expect(kindsIn(files, `${folder}kustomization.yaml`)).toEqual(["Kustomization"]);
  });

  it("give the namespaced one Roles and nothing else, and the other a ClusterRole", () => {
    const files = operatorManifests(options);
    expect(kindsIn(files, "operator/rbac.yaml")).toEqual(["ServiceAccount", "Role", "RoleBinding"]);
    expect(kindsIn(files, "cluster-wide/rbac.yaml")).toEqual(["ServiceAccount", "ClusterRole", "ClusterRoleBinding"]);
  });

  it("take more variants, with flags, ports and objects of their own", () => {
    const variant = { args: ["--webhooks"], ports: [{ containerPort: 9443 }], objects: [{ kind: "Service" }] };
    const files = operatorManifests({ ...options, variants: { "with-webhooks": variant } });
    expect(files["with-webhooks/deployment.yaml"]).toMatchObject([
      { spec: { template: { spec: { containers: [{ args: ["--leader-elect", "--webhooks"] }] } } } },
    ]);
    expect(kindsIn(files, "with-webhooks/webhooks.yaml")).toEqual(["Service"]);
  });

  it("keep what needs the whole cluster out of the variant that has Roles and nothing else", () => {
    const files = operatorManifests({ ...options, grants: [may(ConfigMap, "get"), may(Node, "list")] });
    expect(kindsIn(files, "operator/rbac.yaml")).toEqual(["ServiceAccount", "Role", "RoleBinding"]);
    expect(JSON.stringify(files["operator/rbac.yaml"])).not.toContain("nodes");
    expect(JSON.stringify(files["cluster-wide/rbac.yaml"])).toContain("nodes");
  });

  it("of several replicas: a disruption budget for them, and an even spread", () => {
    const files = operatorManifests({ ...options, replicas: 2 });
    expect(kindsIn(files, "operator/disruption-budget.yaml")).toEqual(["PodDisruptionBudget"]);
    expect(files["operator/deployment.yaml"]).toMatchObject([
      { spec: { replicas: 2, template: { spec: { topologySpreadConstraints: [{ topologyKey: "kubernetes.io/hostname" }] } } } },
    ]);
    expect(operatorManifests(options)).not.toHaveProperty(["operator/disruption-budget.yaml"]);
  });

  it("put a variant into a namespace of its own on request, where only restricted pods may run", () => {
    const variants = { "cluster-wide": { args: ["--all-namespaces"], namespace: "gordon-system" } };
    const files = operatorManifests({ ...options, variants, metricsService: true });
    expect(files["cluster-wide/namespace.yaml"]).toMatchObject([
      { metadata: { name: "gordon-system", labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
    ]);
    for (const file of ["deployment.yaml", "service.yaml"])
      expect(files[`cluster-wide/${file}`]).toMatchObject([{ metadata: { namespace: "gordon-system" } }]);
    expect(files["operator/deployment.yaml"]).toMatchObject([{ metadata: { namespace: "here" } }]);
  });

  it("have components for what not every cluster knows", () => {
    const files = operatorManifests({
      ...options,
      components: { "service-monitor": [{ kind: "ServiceMonitor", metadata: {} }] },
    });
    expect(kindsIn(files, "components/service-monitor/kustomization.yaml")).toEqual(["Component"]);
    expect(kindsIn(files, "components/service-monitor/service-monitor.yaml")).toEqual(["ServiceMonitor"]);
  });
});
