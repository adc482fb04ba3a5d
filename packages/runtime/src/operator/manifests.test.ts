import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
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
});
