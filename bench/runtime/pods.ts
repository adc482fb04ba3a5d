// A generated pod of typical size: about 5 KB of JSON; a real API server adds managedFields, defaults and a status. The
// pods are regular (twenty identical ones per app), which favors a cache that shares equal values, as ours does.

export interface BenchPod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    resourceVersion?: string;
    readonly labels: Record<string, string>;
    readonly annotations: Record<string, string>;
  };
  readonly spec: object;
}

/** The nth pod. Its name and namespace are derived from n, so that a second run finds the same pods. */
export function podOf(index: number): BenchPod {
  const uid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`;
  const app = `app-${Math.floor(index / 20)}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${app}-6f7c9d8b5-${index.toString(36).padStart(5, "0")}`,
      namespace: "default",
      uid,
      resourceVersion: "1",
      labels: { app, "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "bench", "pod-template-hash": "6f7c9d8b5" },
      annotations: {
        "prometheus.io/scrape": "true",
        "example.com/config-checksum": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      },
    },
    spec: {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      containers: [container("app", 20), container("sidecar", 12)],
      volumes: Array.from({ length: 4 }, (_, volume) => ({ name: `volume-${volume}`, emptyDir: {} })),
      tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }],
    },
  };
}

function container(name: string, variables: number): object {
  return {
    name,
    image: `registry.example.com/team/${name}:1.2.3`,
    imagePullPolicy: "IfNotPresent",
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "384Mi" } },
    env: Array.from({ length: variables }, (_, n) => ({
      name: `${name.toUpperCase()}_SETTING_${n}`,
      value: `value of setting number ${n} of ${name}`,
    })),
    volumeMounts: Array.from({ length: 4 }, (_, volume) => ({
      name: `volume-${volume}`,
      mountPath: `/var/lib/${name}/${volume}`,
    })),
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 3 },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
  };
}
