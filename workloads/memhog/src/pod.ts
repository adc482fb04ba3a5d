// A pod with a hog in it, for tests and benches: good defaults, and the caller says only what differs. For people there is deploy/.
import { hogImageName } from "./image.ts";

export interface HogPodOptions {
  readonly name: string;
  /** The hog's flags. */
  readonly args: readonly string[];
  /** Memory, as in a manifest. */
  readonly limit: string;
  /** @default the limit */
  readonly request?: string;
  /** Asks the operator to watch over it. @default false */
  readonly monitored?: boolean;
  /** @default "Always" */
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
}

/** One container, `memhog`, that may run in a namespace where only restricted pods may. Needs the image: see `loadHog`. */
export function hogPod({ name, args, limit, request = limit, monitored = false, restartPolicy = "Always" }: HogPodOptions) {
  const annotations = monitored ? { "app-monitor.kubedemo.com/monitor": "true" } : {};
  const container = {
    ...{ name: "memhog", image: hogImageName, imagePullPolicy: "IfNotPresent", args },
    resources: { requests: { memory: request }, limits: { memory: limit } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { name }, annotations },
    spec: {
      restartPolicy,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [container],
    },
  };
}
