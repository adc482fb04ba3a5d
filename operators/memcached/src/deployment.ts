// The Deployment of a Memcached, and the events about its changes.
import { type Deployment, type EventInput, recommendedLabels, type Stored } from "@memhog/runtime";
import type { Container } from "@memhog/runtime/kinds";
import { identityLabels, isSubset } from "@memhog/runtime/objects";
import { defaults, type Memcached } from "./api.ts";

export type WantedDeployment = Deployment & { readonly metadata: { readonly name: string } };

/** Names the Memcached that an object belongs to. */
export const instanceLabel = "app.kubernetes.io/instance";

/** Selects the pods of a Memcached. It contains no version, because a selector cannot change. */
export const selectorOf = (name: string) => identityLabels({ name: "memcached", instance: name });

/** @param repository image repository without the tag */
export function deploymentFor({ metadata: { name }, spec }: Stored<Memcached>, repository: string): WantedDeployment {
  const { size, version } = spec;
  const labels = recommendedLabels({ name: "memcached", instance: name, version, managedBy: "memcached-operator" });
  return {
    metadata: { name, labels },
    spec: {
      replicas: size,
      selector: { matchLabels: selectorOf(name) },
      progressDeadlineSeconds: 120,
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
          containers: [serverOf(spec, repository)],
        },
      },
    },
  };
}

function serverOf({ version, containerPort }: Memcached["spec"], repository: string): Container {
  const elsewhere = containerPort === defaults.port ? [] : ["-p", `${containerPort}`];
  return {
    name: "memcached",
    image: `${repository}:${version}`,
    // Not -m=64, as in the tutorial: memcached reads that as 0 megabytes and exits.
    command: ["memcached", "-m", "64", "-o", "modern", "-v", ...elsewhere],
    ports: [{ name: "memcached", containerPort }],
    readinessProbe: { tcpSocket: { port: "memcached" } },
    resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "128Mi" } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
}

/** The version in the image of a Deployment. */
export const versionIn = ({ spec }: Deployment) => spec.template.spec.containers[0]?.image?.split(":").at(-1);

/** Whether the number of servers has to be corrected. */
export function sizeDiffers(wanted: Deployment, actual: Deployment | undefined): boolean {
  return actual !== undefined && actual.spec.replicas !== wanted.spec.replicas;
}

/** Events about the change from the actual to the desired Deployment. */
export function eventsFor(
  memcached: Stored<Memcached>,
  wanted: WantedDeployment,
  actual: Deployment | undefined,
): readonly EventInput[] {
  const { replicas } = wanted.spec;
  const version = versionIn(wanted);
  if (actual === undefined) return [{ reason: "Created", message: `a Deployment of ${replicas} servers of version ${version}` }];
  if (isSubset(wanted.spec, actual.spec)) return [];
  // The spec has not changed since the last status: another writer has changed the Deployment.
  if (memcached.status?.observedGeneration === memcached.metadata.generation)
    return [{ type: "Warning", reason: "Reverted", message: "the Deployment was not as we made it; what is ours is put right" }];
  return [
    ...(sizeDiffers(wanted, actual)
      ? [{ reason: "Scaled", message: `from ${actual.spec.replicas} to ${replicas} servers` }]
      : []),
    ...(versionIn(actual) === version
      ? []
      : [{ reason: "RollingOut", message: `from version ${versionIn(actual)} to ${version}` }]),
  ];
}
