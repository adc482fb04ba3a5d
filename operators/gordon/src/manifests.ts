// Generates deploy/.    node operators/gordon/src/manifests.ts
import { join } from "node:path";
import { generate, type ManifestFiles, operatorManifests } from "@memhog/kit";
import { apiVersionOf } from "@memhog/runtime";
import { Gordon } from "./api.ts";
import { program } from "./program.ts";

export const deploy = join(import.meta.dirname, "../deploy");

export function manifests(): ManifestFiles {
  return operatorManifests({
    program,
    image: "memhog/gordon-operator:dev",
    samples: {
      "gordon.yaml": {
        apiVersion: apiVersionOf(Gordon),
        kind: Gordon.kind,
        metadata: { name: "gordoncluster" },
        spec: { gordon: { replicas: 3 } },
      },
    },
  });
}

if (import.meta.main) await generate(deploy, manifests());
