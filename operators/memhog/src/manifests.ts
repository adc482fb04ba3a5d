// The files of deploy/, from the same values that the program runs on; manifests/ has what is the memhog-operator's own, and
// manifests/chart.ts the parts of the Helm chart that are made from the same values.
//
// Where Prometheus is, every cluster answers differently, so it is a variable of the container, which a kustomization patches by
// its name; deploy/README.md shows how.
import { type Grant, type ManifestFiles, operatorManifests } from "@memhog/runtime";
import { operatorName } from "./api/names.ts";
import { components } from "./manifests/components.ts";
import { samples } from "./manifests/samples.ts";
import { memhogKinds, memhogOperator } from "./memhog.ts";

/** The name under which localcluster gets the image, and the one to replace by one's own. */
export const operatorImageName = "memhog/memhog-operator:dev";

/** Where the Prometheus Operator serves a Prometheus that it made in the namespace `monitoring`. */
const usualPrometheus = "http://prometheus-operated.monitoring.svc:9090";

/** What the program may do, computed from what it does. */
export function grants(): readonly Grant[] {
  const nobody = { query: () => Promise.reject(new Error("nothing is asked while manifests are made")) };
  return memhogOperator({ prometheus: nobody, leaderElection: true }).grants;
}

export function manifests(): ManifestFiles {
  return operatorManifests({
    name: operatorName,
    image: operatorImageName,
    replicas: 2,
    // Seen on a real node, few pods: 35 MiB while waiting, 52 while leading. The limit leaves room for some thousand pods.
    memory: { request: "64Mi", limit: "256Mi" },
    args: ["-v2", "--prometheus-addr=$(PROMETHEUS_ADDR)", "--interval=$(INTERVAL)"],
    env: [
      { name: "PROMETHEUS_ADDR", value: usualPrometheus },
      { name: "INTERVAL", value: "15s" },
    ],
    metricsService: true,
    resources: memhogKinds,
    grants: grants(),
    samples,
    components,
    variants: { "cluster-wide": { args: ["--all-namespaces"], namespace: "memhog-system" } },
  });
}
