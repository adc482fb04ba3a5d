// AppMonitor: the API by which people ask for monitoring. The CRD, its validation, the static types, `kubectl explain` and the
// reference page are generated from this value.
import { defineResource, labelSelector, type ObjectOf, quantity, z } from "@memhog/runtime";
import { group } from "./names.ts";

const count = () => z.int().min(0).max(1_000_000);

export const AppMonitor = defineResource({
  group,
  version: "v1",
  kind: "AppMonitor",
  shortNames: ["appmon"],
  categories: ["memhog"],
  description: "AppMonitor raises the memory of the annotated pods in its namespace before they are OOM-killed.",
  spec: z.object({
    memThresholdPercent: z
      .number()
      .min(1)
      .max(100)
      .describe("Percentage of a container's memory limit at which its memory is raised."),
    memMultiplier: z
      .number()
      .gt(1)
      .max(10)
      .describe("Factor applied to the memory request and limit of a container on each raise, for example 1.5."),
    strategy: z
      .enum(["Auto", "InPlace", "Redeploy", "Recommend"])
      .default("Auto")
      .describe(
        "How a pod gets more memory. Auto resizes it in place if the cluster supports that, and redeploys it otherwise. " +
          "InPlace only resizes in place. Redeploy only replaces pods: the replacement is Ready before the original is removed. " +
          "Recommend changes nothing and reports what would be done.",
      ),
    // Bounds what one AppMonitor can take of our memory: every one of them is cached.
    selector: labelSelector({ maxLabels: 16, maxExpressions: 8, maxValues: 16 })
      .optional()
      .describe(
        "Selects pods by label. Defaults to every annotated pod in the namespace. If several AppMonitors select a pod, the one whose " +
          "selector has the most requirements (entries of matchLabels and matchExpressions) acts on it; if they have equally many, none does.",
      ),
    metric: z
      .enum(["WorkingSet", "Usage"])
      .default("WorkingSet")
      .describe(
        "Memory metric to compare with the limit. WorkingSet is what the kubelet uses for eviction; Usage includes the page cache.",
      ),
    maxMemory: quantity({ min: "1Mi" })
      .optional()
      .describe(
        "Upper bound of the memory limit of each container. Defaults to 8 times the limit in the pod template, but not more than halfway " +
          "from there to the allocatable memory of the node. The namespace may allow less.",
      ),
    cooldownSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(60)
      .describe("Minimum seconds between two raises of one container. Ignored if it would run out of memory before that."),
    lookaheadSeconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(60)
      .describe(
        "Raises memory before the threshold is crossed if the recent trend reaches the limit within this many seconds. 0 disables this.",
      ),
    maxRaisesPerHour: z
      .int()
      .min(1)
      .max(20)
      .default(6)
      .describe(
        "Last resort against leaks that are not recognized by their shape: after this many raises of one container within an hour, memhog " +
          "reports SuspectedLeak and stops until this AppMonitor is edited.",
      ),
    shrink: z
      .object({
        window: z
          .enum(["Day", "Week"])
          .default("Day")
          .describe("How long usage must have been low: a day, or a week for apps with a weekly rhythm."),
        marginPercent: z
          .int()
          .min(5)
          .max(200)
          .default(20)
          .describe("How much more than the peak of the window a container keeps, in percent of the peak."),
        belowTemplate: z
          .boolean()
          .default(false)
          .describe(
            "Whether memory requests may become lower than in the pod template. Limits never do. Otherwise only raises are taken back.",
          ),
      })
      .optional()
      .describe(
        "Takes back memory that a container did not use during the whole window: in place, the request first, then the limit, one step a " +
          "day. Limits are lowered on Kubernetes 1.34 or newer. A container that needs more afterwards is not lowered again. Unset: " +
          "memory is never taken back.",
      ),
    paused: z.boolean().default(false).describe("Stops all changes to pods and workloads while true."),
  }),
  status: z.object({
    pods: count().default(0).describe("Number of monitored pods."),
    apps: count().default(0).describe("Number of apps that own the monitored pods."),
    raises: count().default(0).describe("Total number of raises of these apps."),
    oomKills: count().default(0).describe("Total number of OOM kills observed in these apps."),
  }),
  conditions: {
    Ready: {
      True: { Watching: "memhog is watching the memory of the selected pods." },
      False: {
        Paused: "spec.paused is true; memhog changes nothing.",
        NamespaceExcluded: "The flags of the operator exclude this namespace: kube-system by default, or --exclude-namespace.",
        MetricsUnavailable: "Prometheus does not answer. Until it does, only OOM kills trigger a raise.",
        AmbiguousMonitor: "An equally specific AppMonitor selects pods of the same apps; neither acts on them.",
        NoPods: "No annotated pod in the namespace matches the selector.",
        NoSamples: "Prometheus answers, but has no samples of any selected pod. Only OOM kills trigger a raise.",
      },
    },
    Degraded: {
      True: {
        OutOfMemoryAtCap: "An app is OOM-killed again and again, and a cap allows no more memory.",
        NoSamples: "Prometheus answers, but has no samples of some selected pods. Only OOM kills trigger a raise of these.",
        SuspectedLeak: "A container keeps growing over several raises, or was raised too often; memhog stopped raising it.",
        UsageFollowsLimit: "A program sizes itself by its limit; memhog stopped raising it.",
        NodeUnderPressure: "A node reports MemoryPressure; its pods are not raised meanwhile.",
        RaisesIneffective: "An app kept being OOM-killed after several raises; memhog stopped raising it.",
        Contested: "Another client keeps reverting the memory of an app; memhog stopped raising it.",
        RolloutUndone: "A rollout by memhog made no progress and was undone; memhog tries it again later.",
        CapReached: "An app needs more memory than a cap allows.",
        ManagedByAutoscaler: "Another autoscaler manages the memory of an app.",
        Refused: "The API server rejected a change.",
      },
      False: { AsExpected: "No app needs attention." },
    },
  },
  columns: [
    { name: "Threshold", path: ".spec.memThresholdPercent" },
    { name: "Multiplier", path: ".spec.memMultiplier" },
    { name: "Strategy", path: ".spec.strategy" },
    { name: "Pods", path: ".status.pods" },
    { name: "Raises", path: ".status.raises" },
    { name: "OOMKills", path: ".status.oomKills" },
    { name: "Status", condition: "Ready", show: "reason" },
    { name: "Degraded", condition: "Degraded", show: "reason" },
  ],
});
export type AppMonitor = ObjectOf<typeof AppMonitor>;
