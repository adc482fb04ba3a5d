import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { Lease } from "../objects/kinds/coordination.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Node } from "../objects/kinds/core/node.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { Service } from "../objects/kinds/core/service.ts";
import type { PolicyRule } from "../objects/kinds/rbac.ts";
import { type Grant, may } from "./access.ts";
import { impliedBy } from "./implied-access.ts";
import { rolesFor, rulesFor } from "./rbac.ts";

describe("rulesFor()", () => {
  it("joins the verbs of a resource and the resources with the same verbs", () => {
    expect(rulesFor([may(Pod, "list"), may(Service, "get", "list"), may(Pod, "get")])).toEqual([
      { apiGroups: [""], resources: ["pods", "services"], verbs: ["get", "list"] },
    ]);
  });

  it("never joins what would grant a combination nobody asked for", () => {
    expect(rulesFor([may(Pod, "get"), may(Service, "delete")])).toHaveLength(2);
  });

  it("spells a subresource with a slash", () => {
    expect(rulesFor([may(Pod, "patch", { subresource: "resize" })])[0]?.resources).toEqual(["pods/resize"]);
  });

  it("drops a right limited to names beside the same right without limit", () => {
    expect(rulesFor([may(ConfigMap, "get", { names: ["a"] }), may(ConfigMap, "get")])).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
    ]);
  });

  const kinds = [Pod, Service, ConfigMap, Deployment];
  const grant: fc.Arbitrary<Grant> = fc.record({
    kind: fc.constantFrom(...kinds),
    verbs: fc.uniqueArray(fc.constantFrom("get", "list", "patch", "delete"), { minLength: 1 }),
    names: fc.option(fc.uniqueArray(fc.constantFrom("a", "b"), { minLength: 1 }), { nil: undefined }),
    subresource: fc.constantFrom(undefined, "status"),
  }) as fc.Arbitrary<Grant>;

  it("grants exactly what was asked for, for any grants", () => {
    fc.assert(
      fc.property(fc.array(grant), (grants) => {
        expect(rightsIn(rulesFor(grants))).toEqual(rightsOf(grants));
      }),
    );
  });

  it("does not depend on the order of the grants", () => {
    const shuffled = fc
      .array(grant)
      .chain((grants) => fc.tuple(fc.constant(grants), fc.shuffledSubarray(grants, { minLength: grants.length })));
    fc.assert(
      fc.property(shuffled, ([grants, other]) => {
        expect(rulesFor(other)).toEqual(rulesFor(grants));
      }),
    );
  });
});

/** Every single right that rules give: "get /pods/status a", or "… *" for all names. */
function rightsIn(rules: readonly PolicyRule[]): ReadonlySet<string> {
  return withoutCovered(
    rules.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames = ["*"] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`)),
        ),
      ),
    ),
  );
}

function rightsOf(grants: readonly Grant[]): ReadonlySet<string> {
  return withoutCovered(
    grants.flatMap(({ kind, verbs, names = ["*"], subresource }) => {
      const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
      return verbs.flatMap((verb) => names.map((name) => `${verb} ${kind.group}/${resource} ${name}`));
    }),
  );
}

/** A right on all names includes the one on a name. */
function withoutCovered(rights: readonly string[]): ReadonlySet<string> {
  const all = new Set(rights);
  return new Set(rights.filter((right) => right.endsWith("*") || !all.has(right.replace(/\S+$/, "*"))));
}

describe("rolesFor()", () => {
  const grants = [may(Pod, "get"), may(Node, "list"), may(Lease, "create", { where: "operator" })];
  const summary = (objects: ReturnType<typeof rolesFor>) =>
    objects.map(({ kind, metadata, ...rest }) => {
      const { rules = [] } = rest as { rules?: readonly PolicyRule[] };
      return [kind, metadata.namespace ?? "", rules.flatMap(({ resources }) => resources).join()].join(" ").trim();
    });

  it("gives a cluster-wide operator a ClusterRole, and a Role at home for its lease", () => {
    expect(summary(rolesFor(grants, { name: "op", namespace: "ops" }))).toEqual([
      "ServiceAccount ops",
      "ClusterRole  nodes,pods",
      "ClusterRoleBinding",
      "Role ops leases",
      "RoleBinding ops",
    ]);
  });

  it("gives an operator of two namespaces a Role in each, and a ClusterRole for nodes alone", () => {
    expect(summary(rolesFor(grants, { name: "op", namespace: "ops", namespaces: ["a", "ops"] }))).toEqual([
      "ServiceAccount ops",
      "ClusterRole  nodes",
      "ClusterRoleBinding",
      "Role ops pods,leases",
      "RoleBinding ops",
      "Role a pods",
      "RoleBinding a",
    ]);
  });

  it("needs Roles alone where kinds of the whole cluster are done without", () => {
    const roles = rolesFor(grants, { name: "op", namespace: "ops", namespaces: ["a"], clusterKinds: false });
    expect(summary(roles)).toEqual(["ServiceAccount ops", "Role ops leases", "RoleBinding ops", "Role a pods", "RoleBinding a"]);
  });

  it("lets Events about nodes be written in default, where the API server keeps those of the whole cluster", () => {
    const about = impliedBy({ for: Node, reports: false, events: true });
    expect(summary(rolesFor(about, { name: "op", namespace: "ops", namespaces: ["a"] }))).toEqual([
      "ServiceAccount ops",
      "ClusterRole  nodes",
      "ClusterRoleBinding",
      "Role a events",
      "RoleBinding a",
      "Role default events",
      "RoleBinding default",
    ]);
    expect(summary(rolesFor(about, { name: "op", namespace: "ops" }))).toEqual([
      "ServiceAccount ops",
      "ClusterRole  nodes,events",
      "ClusterRoleBinding",
    ]);
    const withoutNodes = rolesFor(about, { name: "op", namespace: "ops", namespaces: ["a"], clusterKinds: false });
    expect(summary(withoutNodes)).toEqual(["ServiceAccount ops", "Role a events", "RoleBinding a"]);
  });

  it("binds everything to the one service account", () => {
    const bindings = rolesFor(grants, { name: "op", namespace: "ops", namespaces: ["a"] }).filter(({ kind }) =>
      kind?.endsWith("Binding"),
    );
    for (const binding of bindings)
      expect(binding).toMatchObject({
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: binding.kind?.replace("Binding", ""), name: "op" },
        subjects: [{ kind: "ServiceAccount", name: "op", namespace: "ops" }],
      });
    expect(bindings).toHaveLength(3);
  });

  it("labels everything, if it is to", () => {
    const labels = { app: "op" };
    for (const { metadata } of rolesFor(grants, { name: "op", namespace: "ops", labels }))
      expect(metadata).toMatchObject({ labels });
    for (const { metadata } of rolesFor(grants, { name: "op", namespace: "ops" })) expect(metadata).not.toHaveProperty("labels");
  });
});
