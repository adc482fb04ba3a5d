// The files of deploy/, from the same values that the program runs on.
import { apiVersionOf, type ManifestFiles, operator, operatorManifests } from "@memhog/runtime";
import { Gordon } from "./api.ts";
import { gordons } from "./gordons.ts";

export const name = "gordon-operator";
export const usualImage = "prgcont/gordon:v1.0";

export function manifests(): ManifestFiles {
  return operatorManifests({
    name,
    image: "memhog/gordon-operator:dev",
    resources: [Gordon],
    grants: operator({ name, controllers: [gordons({ image: usualImage })], leaderElection: true }).grants,
    samples: { "gordon.yaml": sample },
  });
}

const sample = {
  apiVersion: apiVersionOf(Gordon),
  kind: Gordon.kind,
  metadata: { name: "gordoncluster" },
  spec: { gordon: { replicas: 3 } },
};
