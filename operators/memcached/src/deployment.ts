// The Deployment that a Memcached becomes.
import {
  type Container,
  type Deployment,
  identityLabels,
  isSubset,
  type Remark,
  recommendedLabels,
  type Stored,
} from "@memhog/runtime";
import { type Memcached, usual } from "./api.ts";

export type WantedDeployment = Deployment & { readonly metadata: { readonly name: string } };

/** Says which Memcached something belongs to. */
export const instanceLabel = "app.kubernetes.io/instance";

/** The pods of a Memcached: what it is and which one, never a version. Selectors cannot change, versions do. */
export const selectorOf = (name: string) => identityLabels({ name: "memcached", instance: name });

/** @param repository where images come from, without the tag */
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
  const elsewhere = containerPort === usual.port ? [] : ["-p", `${containerPort}`];
  return {
    name: "memcached",
    image: `${repository}:${version}`,
    // The original says -m=64, which memcached reads as 0 megabytes, and ends: "item size limit higher than 1/2 of memory max".
    command: ["memcached", "-m", "64", "-o", "modern", "-v", ...elsewhere],
    ports: [{ name: "memcached", containerPort }],
    readinessProbe: { tcpSocket: { port: "memcached" } },
    resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "128Mi" } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
}

/** The version that a Deployment is about. */
export const versionIn = ({ spec }: Deployment) => spec.template.spec.containers[0]?.image?.split(":").at(-1);

/** Whether the number of servers has to be corrected. */
export function sizeDiffers(wanted: Deployment, actual: Deployment | undefined): boolean {
  return actual !== undefined && actual.spec.replicas !== wanted.spec.replicas;
}

/** What is worth telling about the step from the Deployment that is there to the one that is wanted. */
export function remarksOn(
  memcached: Stored<Memcached>,
  wanted: WantedDeployment,
  actual: Deployment | undefined,
): readonly Remark[] {
  const { replicas } = wanted.spec;
  const version = versionIn(wanted);
  if (actual === undefined) return [{ reason: "Created", note: `a Deployment of ${replicas} servers of version ${version}` }];
  if (isSubset(wanted.spec, actual.spec)) return [];
  // Nobody asked for anything new since we last reported: somebody has changed what is ours.
  if (memcached.status?.observedGeneration === memcached.metadata.generation)
    return [{ type: "Warning", reason: "Reverted", note: "the Deployment was not as we made it; what is ours is put right" }];
  return [
    ...(sizeDiffers(wanted, actual) ? [{ reason: "Scaled", note: `from ${actual.spec.replicas} to ${replicas} servers` }] : []),
    ...(versionIn(actual) === version ? [] : [{ reason: "RollingOut", note: `from version ${versionIn(actual)} to ${version}` }]),
  ];
}
