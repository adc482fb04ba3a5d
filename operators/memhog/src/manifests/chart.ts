// The generated files of the Helm chart: CRDs, RBAC rules and alerts. The templates are written by hand; a test renders them with
// Helm and compares the result with the kustomize files, object by object.
//
// The rules depend on the namespace, because the Lease is only in the operator's own namespace:
//
//     rules-cluster-wide       the ClusterRole for all namespaces, nodes included
//     rules-own-namespace      a monitored namespace in which the operator runs
//     rules-other-namespace    a monitored namespace in which the operator does not run
//     rules-home               the operator's namespace if it has a ClusterRole: only the Lease
//     …-webhooks               the same with webhooks, whose certificate is in a Secret of the operator's namespace
import type { ManifestFiles } from "@memhog/kit";
import { crdOf, type KubernetesObject } from "@memhog/runtime";
import { defaultWebhookAddress, permissionsOf } from "@memhog/runtime/operator";
import { type RoleOptions, rolesFor } from "@memhog/runtime/schema";
import { webhookConfigurations } from "@memhog/runtime/webhook";
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
    "files/rules-cluster-wide-webhooks.yaml": [rulesIn({ namespaces: "all", webhooks: true }, "ClusterRole")],
    "files/rules-home-webhooks.yaml": [rulesIn({ namespaces: "all", webhooks: true })],
    "files/webhooks.yaml": [webhooks()],
    "files/alerts.yaml": [alertGroups],
  };
}

const home = "home";

/** The webhooks of the MutatingWebhookConfiguration. The template replaces HOME by the namespace of the release. */
function webhooks(): object {
  const address = defaultWebhookAddress(operatorName, "HOME");
  const [configuration] = webhookConfigurations(program.webhooks ?? [], { name: operatorName, ...address });
  return configuration?.webhooks ?? [];
}

type Where = Pick<RoleOptions, "namespaces" | "clusterKinds"> & { readonly webhooks?: boolean };

/** The rules of the Role or ClusterRole that this kind of installation has in `namespace`. */
function rulesIn({ webhooks = false, ...where }: Where, kind = "Role", namespace = home): object {
  const roles = rolesFor(permissionsOf(program, { webhooks }), { name: operatorName, namespace: home, ...where });
  const role = roles.find((each) => each.kind === kind && [undefined, namespace].includes(each.metadata.namespace));
  return (role as KubernetesObject & { readonly rules: object }).rules;
}
