import { describe, expect, expectTypeOf, it } from "vitest";
import { apiVersionOf, type Kind, type ObjectOf } from "../object.ts";
import { ClusterRole, ClusterRoleBinding, EndpointSlice, Event, Lease, Role, RoleBinding } from "./access.ts";
import {
  ConfigMap,
  LimitRange,
  Namespace,
  Node,
  PersistentVolumeClaim,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from "./core.ts";
import { CustomResourceDefinition, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "./extension.ts";
import { type DynamicObject, dynamicKind, groupAndVersion } from "./kind.ts";
import { Ingress, NetworkPolicy } from "./network.ts";
import { Pod } from "./pod.ts";
import { HorizontalPodAutoscaler, PodDisruptionBudget, PriorityClass } from "./scaling.ts";
import { PersistentVolume, StorageClass, VolumeSnapshot } from "./storage.ts";
import { CronJob, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet } from "./workloads.ts";

describe("built-in kinds", () => {
  // As printed by `kubectl api-resources` of Kubernetes 1.37.
  const known: readonly (readonly [Kind, string])[] = [
    [ConfigMap, "configmaps v1 true ConfigMap"],
    [LimitRange, "limitranges v1 true LimitRange"],
    [Namespace, "namespaces v1 false Namespace"],
    [Node, "nodes v1 false Node"],
    [PersistentVolumeClaim, "persistentvolumeclaims v1 true PersistentVolumeClaim"],
    [Pod, "pods v1 true Pod"],
    [ResourceQuota, "resourcequotas v1 true ResourceQuota"],
    [Secret, "secrets v1 true Secret"],
    [ServiceAccount, "serviceaccounts v1 true ServiceAccount"],
    [Service, "services v1 true Service"],
    [
      MutatingWebhookConfiguration,
      "mutatingwebhookconfigurations admissionregistration.k8s.io/v1 false MutatingWebhookConfiguration",
    ],
    [
      ValidatingWebhookConfiguration,
      "validatingwebhookconfigurations admissionregistration.k8s.io/v1 false ValidatingWebhookConfiguration",
    ],
    [CustomResourceDefinition, "customresourcedefinitions apiextensions.k8s.io/v1 false CustomResourceDefinition"],
    [DaemonSet, "daemonsets apps/v1 true DaemonSet"],
    [Deployment, "deployments apps/v1 true Deployment"],
    [ReplicaSet, "replicasets apps/v1 true ReplicaSet"],
    [StatefulSet, "statefulsets apps/v1 true StatefulSet"],
    [HorizontalPodAutoscaler, "horizontalpodautoscalers autoscaling/v2 true HorizontalPodAutoscaler"],
    [CronJob, "cronjobs batch/v1 true CronJob"],
    [Job, "jobs batch/v1 true Job"],
    [Lease, "leases coordination.k8s.io/v1 true Lease"],
    [EndpointSlice, "endpointslices discovery.k8s.io/v1 true EndpointSlice"],
    [Event, "events events.k8s.io/v1 true Event"],
    [Ingress, "ingresses networking.k8s.io/v1 true Ingress"],
    [NetworkPolicy, "networkpolicies networking.k8s.io/v1 true NetworkPolicy"],
    [PersistentVolume, "persistentvolumes v1 false PersistentVolume"],
    [PriorityClass, "priorityclasses scheduling.k8s.io/v1 false PriorityClass"],
    [StorageClass, "storageclasses storage.k8s.io/v1 false StorageClass"],
    [VolumeSnapshot, "volumesnapshots snapshot.storage.k8s.io/v1 true VolumeSnapshot"],
    [PodDisruptionBudget, "poddisruptionbudgets policy/v1 true PodDisruptionBudget"],
    [ClusterRoleBinding, "clusterrolebindings rbac.authorization.k8s.io/v1 false ClusterRoleBinding"],
    [ClusterRole, "clusterroles rbac.authorization.k8s.io/v1 false ClusterRole"],
    [RoleBinding, "rolebindings rbac.authorization.k8s.io/v1 true RoleBinding"],
    [Role, "roles rbac.authorization.k8s.io/v1 true Role"],
  ];
  it.each(known)("$1", (kind, line) => {
    expect(`${kind.plural} ${apiVersionOf(kind)} ${kind.namespaced} ${kind.kind}`).toBe(line);
  });

  it("carry the type of their objects", () => {
    expectTypeOf<ObjectOf<typeof Pod>>().toEqualTypeOf<Pod>();
    expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>();
  });
});

describe("dynamicKind", () => {
  const spelling = { group: "cert-manager.io", version: "v1", kind: "Certificate", plural: "certificates", namespaced: true };

  it("accepts objects with arbitrary fields", () => {
    const Certificate = dynamicKind(spelling);
    expect(Certificate).toEqual(spelling);
    expectTypeOf<ObjectOf<typeof Certificate>>().toEqualTypeOf<DynamicObject>();
  });

  it("drops unknown properties, so that kinds compare by value", () => {
    expect(dynamicKind({ ...spelling, shortNames: ["cert"] } as typeof spelling)).toEqual(spelling);
  });
});

describe("groupAndVersion", () => {
  const cases = [
    { name: "the core group is empty", apiVersion: "v1", expected: { group: "", version: "v1" } },
    { name: "the group precedes the slash", apiVersion: "apps/v1", expected: { group: "apps", version: "v1" } },
  ];
  it.each(cases)("$name", ({ apiVersion, expected }) => expect(groupAndVersion(apiVersion)).toEqual(expected));
});
