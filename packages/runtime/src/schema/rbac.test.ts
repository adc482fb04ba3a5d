import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PolicyRule } from "../objects/kinds/access.ts";
import { Lease } from "../objects/kinds/access.ts";
import { ConfigMap, Node, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { allow, type Grant, inferPermissions } from "./permissions.ts";
import { rolesFor, rulesFor } from "./rbac.ts";

describe("rulesFor()", () => {
  it("joins the verbs of a resource and the resources with the same verbs", () => {
    expect(rulesFor([allow(Pod, "list"), allow(Service, "get", "list"), allow(Pod, "get")])).toEqual([
      { apiGroups: [""], resources: ["pods", "services"], verbs: ["get", "list"] },
    ]);
  });

  it("never joins rules if that would grant an undeclared combination", () => {
    expect(rulesFor([allow(Pod, "get"), allow(Service, "delete")])).toHaveLength(2);
  });

  it("writes a subresource with a slash", () => {
    expect(rulesFor([allow(Pod, "patch", { subresource: "resize" })])[0]?.resources).toEqual(["pods/resize"]);
  });

  it("drops a permission limited to names if it is also granted without a limit", () => {
    expect(rulesFor([allow(ConfigMap, "get", { names: ["a"] }), allow(ConfigMap, "get")])).toEqual([
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

  it("grants exactly the declared permissions, for any grants", () => {
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
  const grants = [allow(Pod, "get"), allow(Node, "list"), allow(Lease, "create", { where: "operator" })];
  const summary = (objects: ReturnType<typeof rolesFor>) =>
    objects.map(({ kind, metadata, ...rest }) => {
      const { rules = [] } = rest as { rules?: readonly PolicyRule[] };
      return [kind, metadata.namespace ?? "", rules.flatMap(({ resources }) => resources).join()].join(" ").trim();
    });

  it("gives a cluster-wide operator a ClusterRole, and a Role in its own namespace for its Lease", () => {
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

  it("needs only Roles with clusterKinds: false", () => {
    const roles = rolesFor(grants, { name: "op", namespace: "ops", namespaces: ["a"], clusterKinds: false });
    expect(summary(roles)).toEqual(["ServiceAccount ops", "Role ops leases", "RoleBinding ops", "Role a pods", "RoleBinding a"]);
  });

  it("allows Events about nodes in the namespace default, which holds Events about cluster-scoped objects", () => {
    const about = inferPermissions({ for: Node, writesStatus: false, events: true });
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

  it("adds the given labels to every object", () => {
    const labels = { app: "op" };
    for (const { metadata } of rolesFor(grants, { name: "op", namespace: "ops", labels }))
      expect(metadata).toMatchObject({ labels });
    for (const { metadata } of rolesFor(grants, { name: "op", namespace: "ops" })) expect(metadata).not.toHaveProperty("labels");
  });
});
