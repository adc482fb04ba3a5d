// Pod number n of a StatefulSet, and the claims for its storage. Names are all there is to their identity.
import { type PersistentVolumeClaim, type Pod, type PodTemplateSpec, StatefulSet, type Stored } from "@memhog/runtime";
import { podFrom } from "../pods.ts";
import { revisionLabel } from "../revisions.ts";

export interface Made {
  readonly number: number;
  readonly template: PodTemplateSpec;
  /** The name of the revision the template is of. */
  readonly revision: string;
}

export function podOf(set: Stored<StatefulSet>, { number, template, revision }: Made): Pod {
  const name = `${set.metadata.name}-${number}`;
  const labels = {
    ...template.metadata?.labels,
    "apps.kubernetes.io/pod-index": `${number}`,
    [revisionLabel]: revision,
    "statefulset.kubernetes.io/pod-name": name,
  };
  const pod = podFrom({ ...template, metadata: { ...template.metadata, labels } }, set, StatefulSet, { name });
  const { serviceName } = set.spec;
  const hostname = template.spec.hostname ?? name;
  const subdomain = template.spec.subdomain ?? serviceName;
  return { ...pod, spec: { ...withClaims(pod, set, number), hostname, ...(subdomain && { subdomain }) } };
}

/** Volumes of the names of the templates are those claims, whatever the pod's template says. */
function withClaims({ spec }: Pod, set: Stored<StatefulSet>, number: number): Pod["spec"] {
  const claims = claimsOf(set, number).map(({ template, claim }) => ({
    name: template,
    persistentVolumeClaim: { claimName: claim.metadata.name },
  }));
  if (claims.length === 0) return spec;
  const others = (spec.volumes ?? []).filter(({ name }) => !claims.some((claim) => claim.name === name));
  return { ...spec, volumes: [...others, ...claims] };
}

type NamedClaim = PersistentVolumeClaim & { readonly metadata: { readonly name: string } };

/** "data-web-0", made from the template "data". They outlive the pod, and the set. */
export function claimsOf(
  set: Stored<StatefulSet>,
  number: number,
): readonly { readonly template: string; readonly claim: NamedClaim }[] {
  const { name: setName, namespace } = set.metadata;
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const template = metadata?.name ?? "";
    const labels = { ...metadata?.labels, ...set.spec.selector.matchLabels };
    const home = namespace === undefined ? {} : { namespace };
    return { template, claim: { metadata: { ...metadata, ...home, name: `${template}-${setName}-${number}`, labels }, spec } };
  });
}
