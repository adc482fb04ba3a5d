// What the seeds apply: two numbers, and a program that wastes memory. The Deployment is that of workloads/memhog; a test holds
// the two together.
import { apiVersionOf, Deployment } from "@memhog/runtime";
import { AppMonitor } from "../api/app-monitor.ts";
import { monitorAnnotation } from "../api/names.ts";

const johnnyCache = {
  apiVersion: apiVersionOf(AppMonitor),
  kind: AppMonitor.kind,
  metadata: { name: "johnny-cache" },
  spec: { memThresholdPercent: 75, memMultiplier: 2 },
};

const container = {
  name: "memhog",
  image: "memhog/memhog:dev",
  imagePullPolicy: "IfNotPresent",
  args: ["--ramp", "1Mi/s", "--to", "500Mi"],
  resources: { limits: { memory: "384Mi" }, requests: { memory: "256Mi" } },
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
};

const memhog = {
  apiVersion: apiVersionOf(Deployment),
  kind: Deployment.kind,
  metadata: { name: "memhog" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { name: "memhog" } },
    template: {
      metadata: { labels: { name: "memhog" }, annotations: { [monitorAnnotation]: "true" } },
      spec: { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }, containers: [container] },
    },
  },
};

/** By file name. */
export const samples = { "app-monitor.yaml": johnnyCache, "memhog.yaml": memhog } as const;
