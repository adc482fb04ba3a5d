// The labels that tools look for on every object: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
import { labelValue } from "./names.ts";

export interface RecommendedLabels {
  /** What it is: "memcached". */
  readonly name: string;
  /** Which one: the name of the custom resource. */
  readonly instance: string;
  /** Which part of it: "database". */
  readonly component?: string;
  /** What it belongs to: "wordpress". */
  readonly partOf?: string;
  /** Who looks after it: the operator. */
  readonly managedBy?: string;
  /** Its version. Never part of a selector: those cannot change, versions do. */
  readonly version?: string;
}

/** The `app.kubernetes.io/…` labels of an object. Values that do not fit into a label are shortened. */
export function recommendedLabels(labels: RecommendedLabels): Readonly<Record<string, string>> {
  const { component, partOf, managedBy, version } = labels;
  const optional = { component, "part-of": partOf, "managed-by": managedBy, version };
  const given = Object.entries(optional).flatMap(([key, value]) =>
    value === undefined ? [] : [[`app.kubernetes.io/${key}`, labelValue(value)] as const],
  );
  return { ...identityLabels(labels), ...Object.fromEntries(given) };
}

/** The labels to select by: name and instance, which never change. */
export function identityLabels({
  name,
  instance,
}: Pick<RecommendedLabels, "name" | "instance">): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": labelValue(name), "app.kubernetes.io/instance": labelValue(instance) };
}
