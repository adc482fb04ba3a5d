// What of the Helm chart is made from the program: definitions, rules, alerts. Its templates are written by hand, and a test renders
// them with the real Helm and holds the result against the kustomize files, object by object.
//
// A Role depends on where it is: beside the rights to work there is the Lease, in the operator's own namespace alone.
//
//     rules-cluster-wide       all namespaces: a ClusterRole, nodes included
//     rules-own-namespace      a namespace that is looked after, and in which the operator runs
//     rules-other-namespace    one that is looked after
//     rules-home               one in which the operator runs, and nothing else
import { crdOf, type KubernetesObject, type ManifestFiles, type RoleOptions, rolesFor } from "@memhog/runtime";
import { operatorName } from "../api/names.ts";
import { grants } from "../manifests.ts";
import { memhogKinds } from "../memhog.ts";
import { alertGroups } from "./alerts.ts";

/** The files of the chart's folder that are not written by hand. */
export function chartFiles(): ManifestFiles {
  const crds = memhogKinds.map((kind) => [`crds/${kind.plural}.yaml`, [crdOf(kind)]] as const);
  return {
    ...Object.fromEntries(crds),
    "files/rules-cluster-wide.yaml": [rulesIn({ namespaces: "all" }, "ClusterRole")],
    "files/rules-own-namespace.yaml": [rulesIn({ namespaces: [home], clusterKinds: false })],
    "files/rules-other-namespace.yaml": [rulesIn({ namespaces: ["elsewhere"], clusterKinds: false }, "Role", "elsewhere")],
    "files/rules-home.yaml": [rulesIn({ namespaces: "all" })],
    "files/alerts.yaml": [alertGroups],
  };
}

const home = "home";

/** The rules of one of the roles that such an install gets. */
function rulesIn(where: Pick<RoleOptions, "namespaces" | "clusterKinds">, kind = "Role", namespace = home): object {
  const roles = rolesFor(grants(), { name: operatorName, namespace: home, ...where });
  const role = roles.find((each) => each.kind === kind && [undefined, namespace].includes(each.metadata.namespace));
  return (role as KubernetesObject & { readonly rules: object }).rules;
}
