// Generates RBAC manifests from grants. Rules are merged as far as that adds no permission, and sorted, so that the output
// does not depend on the order of the grants.
import { ClusterRole, ClusterRoleBinding, type PolicyRule, Role, RoleBinding } from "../objects/kinds/access.ts";
import { ServiceAccount } from "../objects/kinds/core.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type ObjectMeta } from "../objects/object.ts";
import { type Grant, resourceName } from "./permissions.ts";

/** Returns few rules that grant exactly these permissions. */
export function rulesFor(grants: readonly Grant[]): readonly PolicyRule[] {
  return mergedRules(
    grants.flatMap((grant) =>
      grant.verbs.map((verb) => ({ group: grant.kind.group, resource: resourceName(grant), verb, names: grant.names ?? [] })),
    ),
  );
}

export interface RoleOptions {
  /** The name of the roles, their bindings and the service account. */
  readonly name: string;
  /** The namespace that the operator runs in. */
  readonly namespace: string;
  /** The namespaces that the operator watches: a list produces Roles, "all" a ClusterRole. @default "all" */
  readonly namespaces?: "all" | readonly string[];
  /**
   * With a list of namespaces: whether cluster-scoped kinds (nodes) get a ClusterRole. "named": only permissions on single objects,
   * such as the operator's own webhook configuration. @default true
   */
  readonly clusterKinds?: boolean | "named";
  readonly labels?: ObjectMeta["labels"];
}

type Named<T extends KubernetesObject = KubernetesObject> = T & { readonly metadata: ObjectMeta & { readonly name: string } };

/** Returns a service account with the roles and bindings that grant it these permissions. */
export function rolesFor(grants: readonly Grant[], options: RoleOptions): readonly Named[] {
  const { namespace, namespaces = "all", clusterKinds = true } = options;
  const home = grants.filter(({ where }) => where === "operator");
  const clusterScoped = grants.filter(({ where }) => where !== "operator");
  const isClusterWide = ({ kind, names }: Grant) =>
    !kind.namespaced && (clusterKinds === "named" ? names !== undefined : clusterKinds);
  const wide = namespaces === "all" ? clusterScoped : clusterScoped.filter(isClusterWide);
  const local = clusterScoped.filter(({ kind, where }) => kind.namespaced && where === undefined);
  const inDefault = namespaces === "all" || clusterKinds !== true ? [] : clusterScoped.filter(({ where }) => where === "default");
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

// Merges single permissions into few rules. Two rules are merged only if all dimensions but one are equal;
// merging more would grant undeclared combinations.

/** One verb on one resource. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Names of objects; empty for all. */
  readonly names: readonly string[];
}

interface Rule {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Merges verbs of one resource first, then resources with the same verbs, then groups with the same resources.
 *
 *     get pods, list pods, get nodes, list nodes   →   get, list on nodes, pods
 */
export function mergedRules(rights: readonly Right[]): readonly PolicyRule[] {
  const single = rights.filter((right) => !isCovered(right, rights)).map(asRule);
  const merged = merge(merge(merge(merge(single, "names"), "verbs"), "resources"), "groups");
  return merged.toSorted((a, b) => compare(sortKey(a), sortKey(b))).map(asPolicyRule);
}

/** Drops permissions limited to names that are also granted without a limit. */
function isCovered(right: Right, all: readonly Right[]): boolean {
  const { group, resource, verb, names } = right;
  return (
    names.length > 0 &&
    all.some((other) => other.names.length === 0 && other.group === group && other.resource === resource && other.verb === verb)
  );
}

function asRule({ group, resource, verb, names }: Right): Rule {
  return { groups: [group], resources: [resource], verbs: [verb], names };
}

/** Merges the rules that differ in this dimension only. An empty list of names means all, so names cannot be added to it. */
function merge(rules: readonly Rule[], dimension: keyof Rule): readonly Rule[] {
  const others = (rule: Rule) => JSON.stringify([{ ...rule, [dimension]: dimension === "names" && rule.names.length === 0 }]);
  return [...Map.groupBy(rules, others).values()].map((alike) => {
    const joined = [...new Set(alike.flatMap((rule) => rule[dimension]))].toSorted(compare);
    return { ...(alike[0] as Rule), [dimension]: joined };
  });
}

function asPolicyRule({ groups, resources, names, verbs }: Rule): PolicyRule {
  return { apiGroups: groups, resources, ...(names.length > 0 && { resourceNames: names }), verbs };
}

function sortKey({ groups, resources, names, verbs }: Rule): string {
  return JSON.stringify([groups, resources, names, verbs]);
}

/** By code unit, so that the order does not depend on the machine's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
