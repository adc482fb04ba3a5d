// The files of deploy/, from the same values that the program runs on.
import {
  apiVersionOf,
  identityLabels,
  type ManifestFiles,
  operator,
  operatorManifests,
  Service,
  webhookConfigurations,
} from "@memhog/runtime";
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
        ports: [{ name: "webhooks", containerPort: 9443 }],
        objects: [service, ...webhookConfigurations(webhooks(), { name, service: { namespace, name: service.metadata.name } })],
      },
    },
  });
}

const service = {
  apiVersion: apiVersionOf(Service),
  kind: Service.kind,
  metadata: { name: `${name}-webhook`, namespace },
  spec: { selector: identityLabels({ name, instance: name }), ports: [{ port: 443, targetPort: "webhooks" }] },
};

const sample = {
  apiVersion: apiVersionOf(Memcached),
  kind: Memcached.kind,
  metadata: { name: "memcached-sample" },
  spec: { size: 3, version: "1.6.9" },
};
