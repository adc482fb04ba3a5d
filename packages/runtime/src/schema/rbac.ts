// Grants as Kubernetes manifests. The rules are merged as far as that adds no right, and sorted, so that the same grants
// always print the same file, whatever the order they were declared in.
import { ServiceAccount } from "../objects/kinds/core/service-account.ts";
import { ClusterRole, ClusterRoleBinding, type PolicyRule, Role, RoleBinding } from "../objects/kinds/rbac.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type ObjectMeta } from "../objects/object.ts";
import { type Grant, resourceName } from "./access.ts";
import { mergedRules } from "./merged-rules.ts";

/** The fewest rules that grant exactly these rights. */
export function rulesFor(grants: readonly Grant[]): readonly PolicyRule[] {
  return mergedRules(
    grants.flatMap((grant) =>
      grant.verbs.map((verb) => ({ group: grant.kind.group, resource: resourceName(grant), verb, names: grant.names ?? [] })),
    ),
  );
}

export interface RoleOptions {
  /** Of the roles, their bindings and the service account. */
  readonly name: string;
  /** Where the operator itself runs. */
  readonly namespace: string;
  /** The namespaces it works in: named ones, by Roles alone, or all of them, by a ClusterRole. @default "all" */
  readonly namespaces?: "all" | readonly string[];
  /** In named namespaces, whether kinds of the whole cluster (nodes) get a ClusterRole of their own. @default true */
  readonly clusterKinds?: boolean;
  readonly labels?: ObjectMeta["labels"];
}

type Named<T extends KubernetesObject = KubernetesObject> = T & { readonly metadata: ObjectMeta & { readonly name: string } };

/** A service account, and the roles and bindings that give it these rights. */
export function rolesFor(grants: readonly Grant[], options: RoleOptions): readonly Named[] {
  const { namespace, namespaces = "all", clusterKinds = true } = options;
  const home = grants.filter(({ where }) => where === "operator");
  const abroad = grants.filter(({ where }) => where !== "operator");
  const wide = namespaces === "all" ? abroad : abroad.filter(({ kind }) => clusterKinds && !kind.namespaced);
  const local = abroad.filter(({ kind, where }) => kind.namespaced && where === undefined);
  const inDefault = namespaces === "all" || !clusterKinds ? [] : abroad.filter(({ where }) => where === "default");
  const watched = namespaces === "all" ? [] : namespaces;
  return [
    named(ServiceAccount, options, { namespace }),
    ...clusterRole(wide, options),
    ...[...new Set([namespace, ...watched, "default"])].flatMap((place) => {
      const atHome = place === namespace ? home : [];
      return role(
        [...(watched.includes(place) ? local : []), ...atHome, ...(place === "default" ? inDefault : [])],
        place,
        options,
      );
    }),
  ];
}

function clusterRole(grants: readonly Grant[], options: RoleOptions): readonly Named[] {
  if (grants.length === 0) return [];
  const binding = bindingOf("ClusterRole", options);
  return [named(ClusterRole, options, {}, { rules: rulesFor(grants) }), named(ClusterRoleBinding, options, {}, binding)];
}

function role(grants: readonly Grant[], namespace: string, options: RoleOptions): readonly Named[] {
  if (grants.length === 0) return [];
  const binding = bindingOf("Role", options);
  return [named(Role, options, { namespace }, { rules: rulesFor(grants) }), named(RoleBinding, options, { namespace }, binding)];
}

function bindingOf(kind: "Role" | "ClusterRole", { name, namespace }: RoleOptions): Pick<RoleBinding, "roleRef" | "subjects"> {
  return {
    roleRef: { apiGroup: Role.group, kind, name },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

function named(kind: Kind, { name, labels }: RoleOptions, metadata: ObjectMeta, rest: object = {}): Named {
  const labelled = labels === undefined ? {} : { labels };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, ...metadata, ...labelled }, ...rest };
}
