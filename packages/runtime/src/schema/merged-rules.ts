// Merging single rights into few rules. Two rules may become one only where everything but one dimension is equal;
// merging more would grant combinations nobody asked for.
import type { PolicyRule } from "../objects/kinds/rbac.ts";

/** One verb on one resource. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Only these objects; all if empty. */
  readonly names: readonly string[];
}

interface Rule {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Verbs of one resource first, then resources with the same verbs, then groups with the same resources.
 *
 *     get pods, list pods, get nodes, list nodes   →   get, list on nodes, pods
 */
export function mergedRules(rights: readonly Right[]): readonly PolicyRule[] {
  const single = rights.filter((right) => !isCovered(right, rights)).map(asRule);
  const merged = merge(merge(merge(merge(single, "names"), "verbs"), "resources"), "groups");
  return merged.toSorted((a, b) => compare(sortKey(a), sortKey(b))).map(asPolicyRule);
}

/** A right limited to names says nothing new beside the same right without a limit. */
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

/** Joins the rules that differ in this dimension only. No names means all of them, which is not a set to add to. */
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
