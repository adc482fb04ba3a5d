// The generated files of the Helm chart: CRDs, RBAC rules and alerts. The templates are written by hand; a test renders them with
// Helm and compares the result with the kustomize files, object by object.
//
// The rules depend on the namespace, because the Lease is only in the operator's own namespace:
//
//     rules-cluster-wide       the ClusterRole for all namespaces, nodes included
//     rules-own-namespace      a monitored namespace in which the operator runs
//     rules-other-namespace    a monitored namespace in which the operator does not run
//     rules-home               the operator's namespace if it has a ClusterRole: only the Lease
//     …-in-place               the same with --in-place-only: no permission to replace pods or edit owners
//     rules-view, rules-edit   for people, aggregated to Kubernetes' own roles
//     …-webhooks               the same with webhooks, whose certificate is in a Secret of the operator's namespace
import type { ManifestFiles } from "@memhog/kit";
import { crdOf, type KubernetesObject } from "@memhog/runtime";
import { defaultWebhookAddress, type PermissionsOptions, permissionsOf } from "@memhog/runtime/operator";
import { type RoleOptions, rolesFor } from "@memhog/runtime/schema";
import { webhookConfigurations } from "@memhog/runtime/webhook";
import { operatorName } from "../api/names.ts";
import { program } from "../cli/commands.ts";
import { memhogKinds } from "../memhog.ts";
import { alertGroups } from "./alerts.ts";
import { editRules, viewRules } from "./manifests.ts";

export function chartFiles(): ManifestFiles {
  const crds = memhogKinds.map((kind) => [`crds/${kind.plural}.yaml`, [crdOf(kind)]] as const);
  return {
    ...Object.fromEntries(crds),
    "files/rules-cluster-wide.yaml": [rulesIn({ namespaces: "all" }, "ClusterRole")],
    "files/rules-own-namespace.yaml": [rulesIn({ namespaces: [home], clusterKinds: false })],
    "files/rules-other-namespace.yaml": [rulesIn({ namespaces: ["elsewhere"], clusterKinds: false }, "Role", "elsewhere")],
    "files/rules-cluster-wide-in-place.yaml": [rulesIn({ namespaces: "all", args: inPlace }, "ClusterRole")],
    "files/rules-own-namespace-in-place.yaml": [rulesIn({ namespaces: [home], clusterKinds: false, args: inPlace })],
    "files/rules-other-namespace-in-place.yaml": [
      rulesIn({ namespaces: ["elsewhere"], clusterKinds: false, args: inPlace }, "Role", "elsewhere"),
    ],
    "files/rules-view.yaml": [viewRules],
    "files/rules-edit.yaml": [editRules],
    "files/rules-home.yaml": [rulesIn({ namespaces: "all" })],
    "files/rules-cluster-wide-webhooks.yaml": [rulesIn({ namespaces: "all", webhooks: true }, "ClusterRole")],
    "files/rules-cluster-wide-in-place-webhooks.yaml": [
      rulesIn({ namespaces: "all", webhooks: true, args: inPlace }, "ClusterRole"),
    ],
    "files/rules-home-webhooks.yaml": [rulesIn({ namespaces: "all", webhooks: true })],
    "files/webhooks.yaml": [webhooks()],
    "files/alerts.yaml": [alertGroups],
  };
}

const home = "home";
const inPlace = ["--in-place-only"];

/** The webhooks of the MutatingWebhookConfiguration. The template replaces HOME by the namespace of the release. */
function webhooks(): object {
  const address = defaultWebhookAddress(operatorName, "HOME");
  const [configuration] = webhookConfigurations(program.webhooks ?? [], { name: operatorName, ...address });
  return configuration?.webhooks ?? [];
}

type Where = Pick<RoleOptions, "namespaces" | "clusterKinds"> & PermissionsOptions;

/** The rules of the Role or ClusterRole that this kind of installation has in `namespace`. */
function rulesIn({ webhooks = false, args = [], ...where }: Where, kind = "Role", namespace = home): object {
  const roles = rolesFor(permissionsOf(program, { webhooks, args }), { name: operatorName, namespace: home, ...where });
  const role = roles.find((each) => each.kind === kind && [undefined, namespace].includes(each.metadata.namespace));
  return (role as KubernetesObject & { readonly rules: object }).rules;
}
