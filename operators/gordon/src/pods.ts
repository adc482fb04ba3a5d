// The pods of a gordon: their names, how they look, and when one is over.
import { identityLabels, type Pod, recommendedLabels, type Stored, seconds } from "@memhog/runtime";
import type { Gordon } from "./api.ts";

/** A pod as it should be. */
export type WantedPod = Pod & { readonly metadata: { readonly name: string } };

/** The pod with this number. Its name follows from the gordon's: a create that is repeated after a crash meets itself. */
export function podFor({ metadata }: Stored<Gordon>, ordinal: number, image: string): WantedPod {
  const labels = recommendedLabels({ name: "gordon", instance: metadata.name, managedBy: "gordon-operator" });
  return {
    metadata: { name: `gordon-${metadata.name}-${ordinal}`, labels },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 5, // its successor has the same name, and waits
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "gordon",
          image,
          resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
}

/** For autoscalers, and for people: never with a version in it. */
export function selectorOf({ metadata }: Stored<Gordon>): string {
  const labels = identityLabels({ name: "gordon", instance: metadata.name });
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Failed or finished: it will never run again. (A container that ends is started again by its node, and is no case for us.) */
export function isOver({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** A node that refuses a pod fails it at once: replaced as quickly, it would fail again, many times a second. */
const shortestLife = seconds(10);

/** Milliseconds until a pod that is over may be replaced; 0 or less: now. */
export function patienceWith({ metadata }: Stored<Pod>, now: number): number {
  return Date.parse(metadata.creationTimestamp ?? "") + shortestLife - now;
}
