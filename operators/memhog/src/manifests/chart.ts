// The generated files of the Helm chart: CRDs, RBAC rules and alerts. The templates are written by hand; a test renders them with
// Helm and compares the result with the kustomize files, object by object.
//
// The rules depend on the namespace, because the Lease is only in the operator's own namespace:
//
//     rules-cluster-wide       the ClusterRole for all namespaces, nodes included
//     rules-own-namespace      a monitored namespace in which the operator runs
//     rules-other-namespace    a monitored namespace in which the operator does not run
//     rules-home               the operator's namespace if it has a ClusterRole: only the Lease
import type { ManifestFiles } from "@memhog/kit";
import { crdOf, type KubernetesObject } from "@memhog/runtime";
import { permissionsOf } from "@memhog/runtime/operator";
import { type RoleOptions, rolesFor } from "@memhog/runtime/schema";
import { operatorName } from "../api/names.ts";
import { program } from "../cli/commands.ts";
import { memhogKinds } from "../memhog.ts";
import { alertGroups } from "./alerts.ts";

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

/** The rules of the Role or ClusterRole that this kind of installation has in `namespace`. */
function rulesIn(where: Pick<RoleOptions, "namespaces" | "clusterKinds">, kind = "Role", namespace = home): object {
  const roles = rolesFor(permissionsOf(program), { name: operatorName, namespace: home, ...where });
  const role = roles.find((each) => each.kind === kind && [undefined, namespace].includes(each.metadata.namespace));
  return (role as KubernetesObject & { readonly rules: object }).rules;
}
