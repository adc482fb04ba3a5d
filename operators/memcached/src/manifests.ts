// Generates deploy/.    node operators/memcached/src/manifests.ts
import { join } from "node:path";
import { generate, type ManifestFiles, operatorManifests } from "@memhog/kit";
import { apiVersionOf } from "@memhog/runtime";
import { Memcached } from "./api.ts";
import { program } from "./program.ts";

export const deploy = join(import.meta.dirname, "../deploy");

export function manifests(): ManifestFiles {
  return operatorManifests({
    program,
    image: "memhog/memcached-operator:dev",
    samples: {
      "memcached.yaml": {
        apiVersion: apiVersionOf(Memcached),
        kind: Memcached.kind,
        metadata: { name: "memcached-sample" },
        spec: { size: 3, version: "1.6.9" },
      },
    },
    // Webhooks are registered for the whole cluster, so this variant watches all namespaces.
    variants: { "with-webhooks": { args: ["--all-namespaces"], webhooks: true } },
  });
}

if (import.meta.main) await generate(deploy, manifests());
