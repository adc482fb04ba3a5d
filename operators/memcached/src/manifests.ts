// The files of deploy/, from the same values that the program runs on.
import { apiVersionOf, type ManifestFiles, operator, operatorManifests } from "@memhog/runtime";
import { Memcached } from "./api.ts";
import { memcacheds } from "./memcacheds.ts";
import { webhooks } from "./webhooks.ts";

export const name = "memcached-operator";
const namespace = "default";

export function manifests(): ManifestFiles {
  const options = { name, controllers: [memcacheds({ repository: "memcached" })], leaderElection: true };
  const withWebhooks = operator({ ...options, webhooks: webhooks() });
  return operatorManifests({
    name,
    namespace,
    image: "memhog/memcached-operator:dev",
    resources: [Memcached],
    grants: operator(options).grants,
    samples: { "memcached.yaml": sample },
    variants: {
      // Webhooks are registered for the whole cluster, so this is the cluster's variant.
      "with-webhooks": {
        grants: withWebhooks.grants,
        args: ["--all-namespaces", "--webhooks"],
        webhooks: webhooks(),
      },
    },
  });
}

const sample = {
  apiVersion: apiVersionOf(Memcached),
  kind: Memcached.kind,
  metadata: { name: "memcached-sample" },
  spec: { size: 3, version: "1.6.9" },
};
