// For tests: two kinds, as their operators would define them.
import { defineResource, rule, z } from "@memhog/runtime";

const count = () => z.int().min(0).max(1000);
const podName = () => z.string().max(253);
const tag = () => z.string().max(128);
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
