import { Pod, type Stored } from "@memhog/runtime";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { appAnnotation, copyOfLabel } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import type { Change } from "../model/plan.ts";
import { copyOf } from "./pods.ts";

const token = {
  name: "kube-api-access-x7k2p",
  projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] },
};
const tokenMount = { name: token.name, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true };

/** What a person wrote, and kept is therefore. */
const written = {
  restartPolicy: "OnFailure",
  terminationGracePeriodSeconds: 7,
  serviceAccountName: "keeper",
  automountServiceAccountToken: true,
  imagePullSecrets: [{ name: "registry" }],
  securityContext: { runAsNonRoot: true, fsGroup: 7 },
  nodeSelector: { disk: "fast" },
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "host" }] } },
  tolerations: [{ key: "gpu", operator: "Exists" }],
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
  priorityClassName: "important",
  runtimeClassName: "gvisor",
  readinessGates: [{ conditionType: "example.com/ready" }],
  hostname: "hungry",
  subdomain: "caves",
  hostAliases: [{ ip: "127.0.0.1", hostnames: ["db"] }],
  dnsPolicy: "None",
  dnsConfig: { nameservers: ["127.0.0.1"] },
  shareProcessNamespace: true,
  schedulerName: "other",
  someFieldOfTheFuture: { kept: true },
};
const main = {
  name: "main",
  image: "example.com/main:1",
  env: [{ name: "MODE", value: "fast" }],
  ports: [{ containerPort: 80 }],
  livenessProbe: { exec: { command: ["true"] } },
  resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "384Mi", "example.com/gpu": "1" } },
};
const data = { name: "data", persistentVolumeClaim: { claimName: "data" } };
const dataMount = { name: "data", mountPath: "/data" };

const original = anObject(Pod, {
  metadata: {
    name: "hungry",
    labels: { app: "hungry" },
    annotations: { "app-monitor.kubedemo.com/monitor": "true", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    finalizers: ["example.com/hold"],
    generateName: "hungry-",
    managedFields: [{}],
    ownerReferences: [
      { apiVersion: "v1", kind: "ConfigMap", name: "family", uid: "1" },
      { apiVersion: "example.com/v1", kind: "Keeper", name: "keeper", uid: "2", controller: true },
    ],
  },
  spec: {
    ...written,
    nodeName: "node-1",
    priority: 1000,
    preemptionPolicy: "PreemptLowerPriority",
    ephemeralContainers: [{ name: "debugger", image: "busybox" }],
    volumes: [data, token],
    initContainers: [
      { name: "proxy", restartPolicy: "Always", volumeMounts: [tokenMount], resources: { limits: { memory: "64Mi" } } },
    ],
    containers: [
      { ...main, volumeMounts: [dataMount, tokenMount] },
      { name: "second", image: "example.com/second:1" },
    ],
  },
  status: { phase: "Running", podIP: "10.0.0.1" },
} as never) as Stored<Pod>;

const changes: readonly Change[] = [
  { container: "main", from: { limit: mib(384), request: mib(256) }, to: { limit: mib(768), request: mib(512) } },
  { container: "proxy", from: { limit: mib(64), request: undefined }, to: { limit: mib(128), request: undefined } },
];
const copy = copyOf(original, { name: "hungry-autoscaled", app: "hungry", changes });

describe("the copy of a bare pod", () => {
  it("has more memory, in containers and in sidecars, and everything else that was written", () => {
    const resources = { requests: { cpu: "100m", memory: "512Mi" }, limits: { memory: "768Mi", "example.com/gpu": "1" } };
    expect(copy.spec).toEqual({
      ...written,
      volumes: [data],
      initContainers: [
        { name: "proxy", restartPolicy: "Always", volumeMounts: [], resources: { limits: { memory: "128Mi" }, requests: {} } },
      ],
      containers: [
        { ...main, resources, volumeMounts: [dataMount] },
        { name: "second", image: "example.com/second:1" },
      ],
    });
  });

  it("has the labels and annotations of its original, says whose copy it is, and none of what the server owns", () => {
    expect(copy).toEqual({
      spec: copy.spec,
      metadata: {
        name: "hungry-autoscaled",
        namespace: "default",
        labels: { app: "hungry", [copyOfLabel]: original.metadata.uid },
        annotations: { "app-monitor.kubedemo.com/monitor": "true", [appAnnotation]: "hungry" },
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "family", uid: "1" }],
      },
    });
  });

  it("of a copy is still of the first original's app", () => {
    const stored = anObject(Pod, { ...copy, metadata: { ...copy.metadata, uid: "second" } } as never);
    const { labels, annotations } = copyOf(stored, { name: "hungry-autoscaled-2", app: "hungry", changes }).metadata ?? {};
    expect(annotations?.[appAnnotation]).toBe("hungry");
    expect(labels?.[copyOfLabel]).toBe("second");
  });

  it("never has less than its original, whatever was decided a while ago", () => {
    const less = changes.map((change) => ({ ...change, to: { limit: mib(1), request: mib(1) } }));
    expect(copyOf(original, { name: "x", app: "hungry", changes: less }).spec.containers[0]?.resources).toEqual(main.resources);
  });

  it("keeps a volume that only looks like the injected one", () => {
    const lookalike = { name: "kube-api-access-mine", configMap: { name: "mine" } };
    const own = anObject(Pod, { spec: { ...original.spec, volumes: [lookalike] } } as never);
    expect(copyOf(own, { name: "x", app: "hungry", changes }).spec.volumes).toEqual([lookalike]);
  });
});
