import {
  allow,
  allowed,
  ConfigMap,
  controller,
  convert,
  type Deployment,
  done,
  Node,
  type OperatorProgram,
  validate,
} from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { Gordon, Memcached } from "./kinds.fixture.ts";
import { operatorManifests } from "./manifests.ts";

const gordons = controller(Gordon, { permissions: [allow(ConfigMap, "get")] }, async () => done());
const program: OperatorProgram = { name: "gordon-operator", resources: [Gordon], controllers: [gordons] };
const options = {
  ...{ program, image: "gordon-operator:dev", namespace: "here" },
  samples: { "gordon.yaml": { kind: "Gordon" } },
};
const converting = { ...program, webhooks: [convert(Gordon, {})] };
const kindsIn = (files: ReturnType<typeof operatorManifests>, path: string) =>
  (files[path] as readonly { readonly kind: string }[] | undefined)?.map(({ kind }) => kind);
const portsIn = (files: ReturnType<typeof operatorManifests>, variant: string) => {
  const [deployment] = files[`${variant}/deployment.yaml`] as readonly Deployment[];
  return deployment?.spec?.template.spec?.containers[0]?.ports?.map(({ containerPort }) => containerPort);
};

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
    expect(kindsIn(files, "cluster-wide/rbac.yaml")).toEqual(
      expect.arrayContaining(["ServiceAccount", "ClusterRole", "ClusterRoleBinding"]),
    );
  });

  it("take more variants, with flags, ports and objects of their own", () => {
    const variant = { args: ["--logtostderr"], ports: [{ containerPort: 7 }], objects: [{ kind: "ConfigMap" }] };
    const files = operatorManifests({ ...options, variants: { loud: variant } });
    expect(portsIn(files, "loud")).toEqual([8080, 8081, 7]);
    expect(files["loud/deployment.yaml"]).toMatchObject([
      { spec: { template: { spec: { containers: [{ args: ["--leader-elect", "--logtostderr"] }] } } } },
    ]);
    expect(kindsIn(files, "loud/objects.yaml")).toEqual(["ConfigMap"]);
  });

  it("lead to the webhooks of a variant, on its port, and to those who are ready only", () => {
    const validating = { ...program, webhooks: [validate(Gordon, () => allowed())] };
    const files = operatorManifests({ ...options, program: validating, variants: { asked: { webhooks: true } } });
    expect(portsIn(files, "asked")).toEqual([8080, 8081, 9443]);
    expect(kindsIn(files, "asked/webhooks.yaml")).toEqual(["Service", "ValidatingWebhookConfiguration"]);
    expect(files["asked/deployment.yaml"]).toMatchObject([
      { spec: { template: { spec: { containers: [{ args: ["--leader-elect", "--webhooks"] }] } } } },
    ]);
    expect(JSON.stringify(files["asked/rbac.yaml"])).toContain("gordon-operator-webhook-certificates");
    expect(JSON.stringify(files["operator/rbac.yaml"])).not.toContain("certificates");
    expect(files["asked/webhooks.yaml"]?.[0]).toMatchObject({
      metadata: { name: "gordon-operator-webhook", namespace: "here" },
      spec: { ports: [{ port: 443, targetPort: "webhooks" }] },
    });
    expect(JSON.stringify(files)).not.toContain("publishNotReadyAddresses");
    expect(files).not.toHaveProperty(["operator/webhooks.yaml"]);
  });

  it("scope the webhooks of the namespaced variant to its namespace, and allow it to set caBundle there, by name", () => {
    const validating = { ...program, webhooks: [validate(Gordon, () => allowed())] };
    const variants = { operator: { namespaces: "own", webhooks: true } } as const;
    const files = operatorManifests({ ...options, program: validating, variants });
    const values = ["here"];
    expect(files["operator/webhooks.yaml"]?.[1]).toMatchObject({
      webhooks: [{ namespaceSelector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values }] } }],
    });
    const [role, ...others] = (files["operator/rbac.yaml"] as readonly { kind: string; rules: unknown }[]).filter(
      ({ kind }) => kind === "ClusterRole",
    );
    const own = { resources: ["validatingwebhookconfigurations"], resourceNames: ["gordon-operator"], verbs: ["get", "update"] };
    expect([role?.rules, others]).toEqual([[{ apiGroups: ["admissionregistration.k8s.io"], ...own }], []]);
  });

  it("of a kind that is converted say so in its CRD, and lead also to who is not ready: to be that takes a conversion", () => {
    const files = operatorManifests({ ...options, program: { ...converting, resources: [Gordon, Memcached] } });
    const service = { namespace: "here", name: "gordon-operator-webhook", path: "/convert" };
    expect(files["crd/gordons.yaml"]).toMatchObject([
      { spec: { conversion: { strategy: "Webhook", webhook: { clientConfig: { service } } } } },
    ]);
    expect(files["crd/memcacheds.yaml"]?.[0]).not.toHaveProperty("spec.conversion");
    for (const variant of ["operator", "cluster-wide"]) {
      expect(kindsIn(files, `${variant}/webhooks.yaml`)).toEqual(["Service"]);
      expect(files[`${variant}/webhooks.yaml`]).toMatchObject([{ spec: { publishNotReadyAddresses: true } }]);
    }
  });

  it("refuse to convert from a namespace that the CRD does not name", () => {
    const variants = { elsewhere: { namespace: "gordon-system" } };
    expect(() => operatorManifests({ ...options, variants, program: converting })).toThrow(
      "expected every variant to run in here, where the CRD looks for the conversion, found one in gordon-system",
    );
  });

  it("keep what needs the whole cluster out of the variant that has Roles and nothing else", () => {
    const files = operatorManifests({
      ...options,
      program: { ...program, controllers: [controller(Gordon, { permissions: [allow(Node, "list")] }, async () => done())] },
    });
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
