// Revisions: how StatefulSets and DaemonSets remember the templates they had. A revision is named by the hash of its template;
// the label `controller-revision-hash` on a pod says which one it was made from.
import {
  dynamicKind,
  type Kind,
  type KubernetesObject,
  ownerReferenceTo,
  type PodTemplateSpec,
  type Stored,
} from "@memhog/runtime";
import { templateHash } from "./template-hash.ts";

/** `apps/v1` `controllerrevisions`. */
export interface ControllerRevision extends KubernetesObject {
  readonly revision: number;
  readonly data?: unknown;
}
export const ControllerRevision: Kind<ControllerRevision> = dynamicKind({
  ...{ group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions", namespaced: true },
});

export const revisionLabel = "controller-revision-hash";

export interface Revisions {
  /** The one for the template of today, as it is or as it is to be made. */
  readonly update: ControllerRevision & { readonly metadata: { readonly name: string } };
  /** It is not there yet, or is not the newest any more. */
  readonly write?: "create" | "renumber";
  /** Beyond the history that is kept. */
  readonly forget: readonly Stored<ControllerRevision>[];
}

export interface RevisionOptions {
  readonly owner: Stored<KubernetesObject>;
  readonly kind: Kind;
  readonly template: PodTemplateSpec;
  readonly limit?: number | undefined;
  /** Names of revisions that pods are still made from. */
  readonly inUse: ReadonlySet<string>;
}

export function decideRevisions(options: RevisionOptions, known: readonly Stored<ControllerRevision>[]): Revisions {
  const { owner, kind, template, limit = 10, inUse } = options;
  const hash = templateHash(template);
  const name = `${owner.metadata.name}-${hash}`;
  const present = known.find(({ metadata }) => metadata.name === name);
  const newest = Math.max(0, ...known.filter((each) => each !== present).map(({ revision }) => revision));
  const revision = present !== undefined && present.revision > newest ? present.revision : newest + 1;
  const { namespace } = owner.metadata;
  const labels = { ...template.metadata?.labels, [revisionLabel]: hash };
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels,
    ownerReferences: [ownerReferenceTo(owner, kind)],
  };
  const data = { spec: { template: { ...template, $patch: "replace" } } };
  const idle = known
    .filter(({ metadata }) => metadata.name !== name && !inUse.has(metadata.name))
    .sort((a, b) => a.revision - b.revision);
  const write = present === undefined ? "create" : present.revision === revision ? undefined : "renumber";
  return {
    update: { metadata, data, revision },
    ...(write && { write }),
    forget: idle.slice(0, Math.max(0, idle.length - limit)),
  };
}
