// The pods of a Gordon: their names, their spec, and when one has ended.
import { type Pod, recommendedLabels, type Stored, seconds } from "@memhog/runtime";
import { identityLabels } from "@memhog/runtime/objects";
import type { Gordon } from "./api.ts";

/** A desired pod. */
export type WantedPod = Pod & { readonly metadata: { readonly name: string } };

/** The pod with this ordinal. The name is deterministic, so a create that is repeated after a crash finds the same pod. */
export function podFor({ metadata }: Stored<Gordon>, ordinal: number, image: string): WantedPod {
  const labels = recommendedLabels({ name: "gordon", instance: metadata.name, managedBy: "gordon-operator" });
  return {
    metadata: { name: `gordon-${metadata.name}-${ordinal}`, labels },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 5, // the replacement has the same name and has to wait
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

/** The label selector for the scale subresource. It contains no version. */
export function selectorOf({ metadata }: Stored<Gordon>): string {
  const labels = identityLabels({ name: "gordon", instance: metadata.name });
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Failed or Succeeded: the pod never runs again. The kubelet restarts single containers. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** A kubelet that rejects a pod fails it at once. Without a delay it would be replaced many times a second. */
const minLifetimeMs = seconds(10);

/** Milliseconds until an ended pod may be replaced; 0 or less means now. */
export function replaceDelayMs({ metadata }: Stored<Pod>, now: number): number {
  return Date.parse(metadata.creationTimestamp ?? "") + minLifetimeMs - now;
}
