// For tests: six kinds as real operators would define them. schema.cluster.test.ts checks each of them on an API server.
import { z } from "zod";
import type { PodTemplateSpec } from "../objects/kinds/pod.ts";
import { defineResource } from "./define-resource.ts";
import { keyedList, labelSelector, preserveUnknown, quantity, rule, stringMap } from "./fields.ts";

const count = () => z.int().min(0).max(1000);
const podName = () => z.string().max(253);
const tag = () =>
  z
    .string()
    .max(128)
    .regex(/^\w[\w.-]*$/);
const selector = () => z.string().max(1024).describe("The pods, as a label selector.");

export const Gordon = defineResource({
  group: "operator.prgcont.cz",
  version: "v1",
  kind: "Gordon",
  shortNames: ["gn"],
  description: "Keeps a number of gordons running.",
  spec: z.object({
    gordon: z.object({ replicas: count().describe("How many gordons to keep running.") }).describe("What a gordon is."),
  }),
  status: z.object({
    replicas: count().default(0).describe("How many there are."),
    readyReplicas: count().default(0).describe("How many of them are ready."),
    pods: z.array(podName()).max(1000).default([]).describe("Their names."),
    selector: selector().optional(),
  }),
  conditions: { Ready: { True: ["AllPodsRunning"], False: ["PodsMissing"] } },
  columns: [
    { name: "Desired", path: ".spec.gordon.replicas" },
    { name: "Ready", path: ".status.readyReplicas" },
    { name: "Status", condition: "Ready", show: "reason" },
  ],
  scale: { specPath: ".spec.gordon.replicas", statusPath: ".status.replicas", selectorPath: ".status.selector" },
});

export const Memcached = defineResource({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  shortNames: ["mc"],
  spec: z.object({
    size: z
      .int()
      .min(1)
      .max(99)
      .apply(rule, "self % 2 == 1", "Cluster size must be an odd number")
      .default(3)
      .describe("How many servers."),
    version: tag().default("1.6").describe("The image tag."),
    containerPort: z.int().min(1).max(65535).default(11211).describe("Where they listen."),
  }),
  status: z.object({
    nodes: z.array(podName()).max(99).default([]).describe("The pods, sorted."),
    readyReplicas: count().default(0).describe("How many are ready."),
    version: tag().optional().describe("What runs, once a rollout has ended."),
    selector: selector().optional(),
  }),
  conditions: {
    Available: { True: ["MinimumAvailable"], False: ["TooFewReady", "ImageNotPulled"] },
    Progressing: { True: ["RollingOut"], False: ["Settled"] },
    Degraded: { True: { NameConflict: "A Deployment of this name belongs to someone else." }, False: ["AsExpected"] },
  },
  columns: [
    { name: "Size", path: ".spec.size" },
    { name: "Ready", path: ".status.readyReplicas" },
    { name: "Version", path: ".status.version" },
    { name: "Available", condition: "Available" },
  ],
  scale: { specPath: ".spec.size", statusPath: ".status.readyReplicas", selectorPath: ".status.selector" },
});

export const AppMonitor = defineResource({
  group: "kubedemo.com",
  version: "v1",
  kind: "AppMonitor",
  description: "Gives the annotated pods of its namespace more memory before they run out of it.",
  spec: z.object({
    memThresholdPercent: z.number().min(1).max(100).describe("Act when this much of the limit is used, or more."),
    memMultiplier: z.number().gt(1).max(10).describe("How many times the memory a pod then gets."),
    strategy: z.enum(["Auto", "InPlace", "Redeploy", "Recommend"]).default("Auto").describe("How it gets it."),
    selector: labelSelector().optional().describe("Only these pods. By default all that are annotated."),
    maxMemory: quantity({ min: "1Mi" }).optional().describe("Never more than this for a container."),
    cooldownSeconds: z.int().min(0).max(86_400).default(60).describe("Seconds between two raises of one pod."),
    lookaheadSeconds: z.int().min(0).max(3600).default(60).describe("Act if the trend meets the limit within this; 0: never."),
    paused: z.boolean().default(false).describe("Touch nothing."),
  }),
  status: z.object({
    monitored: count().default(0).describe("Pods that are looked after."),
    raises: z.int().min(0).default(0).describe("Raises so far."),
  }),
  conditions: {
    Ready: { True: ["Watching"], False: ["MetricsUnavailable", "Paused"] },
    Contested: { True: ["AnotherMonitor", "AnotherWriter"], False: ["Alone"] },
  },
  columns: [
    { name: "Threshold", path: ".spec.memThresholdPercent" },
    { name: "Multiplier", path: ".spec.memMultiplier" },
    { name: "Pods", path: ".status.monitored" },
    { name: "Status", condition: "Ready", show: "reason" },
  ],
});

const action = z.object({
  at: z.iso.datetime().describe("When."),
  from: quantity().describe("The limit before."),
  to: quantity().describe("The limit after."),
  reason: z.enum(["ThresholdCrossed", "OutOfMemory", "WillRunOut"]).describe("Why."),
});

export const AppMemory = defineResource({
  group: "kubedemo.com",
  version: "v1",
  kind: "AppMemory",
  description: "What was learned about the memory of one app.",
  spec: z.object({ app: z.string().max(253).describe("Kind and name of the owner: Deployment/web.") }),
  status: z.object({
    limit: quantity().optional().describe("What a container has."),
    wanted: quantity().optional().describe("What the policy asks for."),
    applied: quantity().optional().describe("What was granted."),
    phase: z.enum(["Learning", "Raising", "Settled", "Stopped"]).default("Learning").describe("Where it is."),
    actions: z.array(action).max(20).default([]).describe("The last ones, oldest first."),
  }),
  conditions: { Applied: { True: ["AsWanted"], False: ["Capped", "Deferred", "SuspectedLeak"] } },
  columns: [
    { name: "App", path: ".spec.app" },
    { name: "Limit", path: ".status.limit" },
    { name: "Wanted", path: ".status.wanted" },
    { name: "Applied", path: ".status.applied" },
    { name: "Phase", path: ".status.phase" },
    { name: "Reason", condition: "Applied", show: "reason" },
  ],
});

const backup = z.object({
  schedule: z.string().max(64).describe("When, as cron writes it."),
  retention: z.int().min(1).max(365).default(7).describe("How many to keep."),
  suspend: z.boolean().default(false).describe("None for now."),
});

export const Database = defineResource({
  group: "stable.imaginedata.com",
  version: "v1",
  kind: "Database",
  shortNames: ["db"],
  description: "A PostgreSQL server with standbys and backups.",
  spec: z.object({
    name: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z_][a-z0-9_]*$/)
      .describe("The database in it."),
    port: z.int().min(1).max(65535).default(5432).describe("Where it listens."),
    "storage-size": quantity({ min: "1Mi" })
      .apply(rule, "quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0", "storage may grow, not shrink")
      .default("1Gi")
      .describe("Of each volume."),
    image: z.string().min(1).max(512).describe("PostgreSQL itself."),
    replicas: z.int().min(1).max(9).default(1).describe("One primary, the others standbys."),
    backup: backup.optional().describe("Scheduled backups."),
    restoreFrom: z.string().max(253).optional().describe("Start from this backup."),
  }),
  status: z.object({ readyReplicas: count().default(0).describe("How many answer."), selector: selector().optional() }),
  conditions: { Ready: { True: ["Answering"], False: ["Starting", "Upgrading", "SnapshotFailed"] } },
  columns: [
    { name: "Storage", path: ".spec.storage-size" },
    { name: "Replicas", path: ".spec.replicas" },
    { name: "Ready", condition: "Ready" },
  ],
  rules: [{ rule: "size(self.metadata.name) <= 40", message: "the name must leave room for those of its pods" }],
  scale: { specPath: ".spec.replicas", statusPath: ".status.readyReplicas", selectorPath: ".status.selector" },
});

const member = z.object({ name: podName().describe("Its pod."), id: z.string().max(20).describe("Its id in etcd.") });

export const EtcdCluster = defineResource({
  group: "etcd.database.coreos.com",
  version: "v1beta2",
  kind: "EtcdCluster",
  shortNames: ["etcd", "etcdclus"],
  description: "An etcd cluster that grows, shrinks, heals and upgrades.",
  spec: z.object({
    size: z.int().min(1).max(7).default(3).describe("How many members."),
    version: z
      .string()
      .max(20)
      .regex(/^\d+\.\d+\.\d+$/)
      .default("3.5.0")
      .describe("Of etcd; one minor at a time."),
    repository: z.string().max(255).default("quay.io/coreos/etcd").describe("Of the image."),
    paused: z.boolean().default(false).describe("Change nothing."),
    pod: z
      .object({
        labels: stringMap().optional().describe("More labels."),
        template: preserveUnknown<PodTemplateSpec>().optional().describe("As in a Deployment."),
      })
      .optional()
      .describe("How its pods look."),
  }),
  status: z.object({
    phase: z.enum(["Creating", "Running", "Failed"]).default("Creating").describe("Where it is."),
    size: count().default(0).describe("How many members there are."),
    members: keyedList(member, "name").max(9).default([]).describe("Who they are."),
    selector: selector().optional(),
  }),
  conditions: {
    Available: { True: ["QuorumHeld"], False: ["QuorumLost"] },
    Scaling: { True: ["Growing", "Shrinking"], False: ["SizeReached"] },
  },
  columns: [
    { name: "Size", path: ".status.size" },
    { name: "Phase", path: ".status.phase" },
    { name: "Available", condition: "Available" },
  ],
  scale: { specPath: ".spec.size", statusPath: ".status.size", selectorPath: ".status.selector" },
});

export const sampleOperators = [Gordon, Memcached, AppMonitor, AppMemory, Database, EtcdCluster] as const;
