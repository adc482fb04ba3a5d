// For tests only: objects whose fields are written in all the ways there are: pointers to zero, empty maps, bytes, quantities,
// numbers or names, micro-times, embedded structs, lists that must be there.
import { Deployment, StatefulSet } from "../../objects/kinds/apps.ts";
import { HorizontalPodAutoscaler } from "../../objects/kinds/autoscaling.ts";
import { CronJob } from "../../objects/kinds/batch.ts";
import { Lease } from "../../objects/kinds/coordination.ts";
import { PersistentVolumeClaim } from "../../objects/kinds/core/claim.ts";
import { ConfigMap, Secret } from "../../objects/kinds/core/config.ts";
import { ResourceQuota } from "../../objects/kinds/core/limits.ts";
import { Node } from "../../objects/kinds/core/node.ts";
import { Pod } from "../../objects/kinds/core/pod.ts";
import { Service } from "../../objects/kinds/core/service.ts";
import { EndpointSlice } from "../../objects/kinds/discovery.ts";
import { Event } from "../../objects/kinds/events.ts";
import { PodDisruptionBudget } from "../../objects/kinds/policy.ts";
import { Role } from "../../objects/kinds/rbac.ts";
import type { Kind } from "../../objects/object.ts";

const container = {
  name: "a",
  image: "a:1",
  env: [
    { name: "EMPTY", value: "" },
    { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
  ],
  ports: [{ containerPort: 80 }],
  resources: { requests: { cpu: "0.1", memory: "1.5Gi" }, limits: { cpu: "1", memory: "2e9" } },
  livenessProbe: { httpGet: { path: "/", port: "http" } },
  readinessProbe: { tcpSocket: { port: 8080 } },
  securityContext: { privileged: false },
};

const podSpec = {
  terminationGracePeriodSeconds: 0,
  securityContext: { runAsUser: 0 },
  containers: [container],
  volumes: [
    { name: "v", emptyDir: {} },
    { name: "s", secret: { secretName: "s", optional: false } },
  ],
  tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: -1 }],
};

const labels = { app: "a" };
const template = { metadata: { labels }, spec: podSpec };
const selector = { matchLabels: labels };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** One object of each kind, with the kind. */
export function samples(namespace: string): readonly (readonly [Kind, object])[] {
  const metadata = { namespace, name: "sample", labels, annotations: { empty: "", note: "žluťoučký 🐎" } };
  return [
    [Pod, { metadata, spec: podSpec }],
    [ConfigMap, { metadata, data: { a: "1" }, binaryData: { b: "AAEC" } }],
    [Secret, { metadata, type: "Opaque", data: { a: "c2VjcmV0", empty: "" } }],
    [Node, { metadata: { ...metadata, namespace: undefined }, spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }],
    [Service, { metadata, spec: { selector: labels, ports: [{ port: 80, targetPort: "http" }] } }],
    [ResourceQuota, { metadata, spec: { hard: { "requests.memory": "10Gi", pods: "5" } } }],
    [PersistentVolumeClaim, { metadata, spec: claim }],
    [
      Deployment,
      {
        metadata,
        spec: { replicas: 0, selector, template, strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } } },
      },
    ],
    [
      StatefulSet,
      {
        metadata,
        spec: { selector, template, serviceName: "x", volumeClaimTemplates: [{ metadata: { name: "v" }, spec: claim }] },
      },
    ],
    [
      CronJob,
      {
        metadata,
        spec: {
          schedule: "@daily",
          suspend: false,
          jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: "Never" } } } },
        },
      },
    ],
    [
      HorizontalPodAutoscaler,
      { metadata, spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" } } },
    ],
    [Lease, { metadata, spec: { holderIdentity: "a", renewTime: "2026-01-02T03:04:05.000600Z", leaseTransitions: 0 } }],
    [
      EndpointSlice,
      { metadata, addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: false } }], ports: [] },
    ],
    [PodDisruptionBudget, { metadata, spec: { selector, maxUnavailable: "50%" } }],
    [Role, { metadata, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
    [
      Event,
      {
        metadata,
        type: "Normal",
        reason: "R",
        action: "A",
        reportingController: "x/y",
        reportingInstance: "z",
        eventTime: "2026-01-02T03:04:05.000600Z",
        regarding: { kind: "Pod", namespace, name: "x" },
      },
    ],
  ];
}
