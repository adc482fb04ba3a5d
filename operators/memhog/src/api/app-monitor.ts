// What people ask for. The CRD, its validation, the types, `kubectl explain` and the reference are this value.
import { defineResource, labelSelector, type ObjectOf, quantity, z } from "@memhog/runtime";
import { group } from "./names.ts";

const count = () => z.int().min(0).max(1_000_000);

export const AppMonitor = defineResource({
  group,
  version: "v1",
  kind: "AppMonitor",
  shortNames: ["appmon"],
  categories: ["memhog"],
  description: "Gives the annotated pods of its namespace more memory before they are killed for lack of it.",
  spec: z.object({
    memThresholdPercent: z
      .number()
      .min(1)
      .max(100)
      .describe("Act when this share of its memory limit is used by a container, or more. In percent."),
    memMultiplier: z
      .number()
      .gt(1)
      .max(10)
      .describe("So many times its memory a container then gets: request and limit alike. 1.5 is legal."),
    strategy: z
      .enum(["Auto", "InPlace", "Redeploy", "Recommend"])
      .default("Auto")
      .describe(
        "How a pod gets more. Auto: in place where cluster and pod allow it, otherwise Redeploy. InPlace: never by a restart of the pod. " +
          "Redeploy: a bigger copy first, then the original goes. Recommend: decide and report, touch nothing.",
      ),
    selector: labelSelector()
      .optional()
      .describe("Only pods with these labels. By default every annotated pod of the namespace."),
    metric: z
      .enum(["WorkingSet", "Usage"])
      .default("WorkingSet")
      .describe("What counts as used. WorkingSet is what the kubelet goes by; Usage includes page cache."),
    maxMemory: quantity({ min: "1Mi" })
      .optional()
      .describe("No container gets a higher limit than this. By default only the namespace and the node set bounds."),
    cooldownSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(60)
      .describe("Seconds between two raises of one pod, unless it would run out of memory before that."),
    lookaheadSeconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(60)
      .describe(
        "Act before the threshold if the trend of the last samples reaches the limit within so many seconds. 0: believe no trend at all.",
      ),
    maxRaisesPerHour: z
      .int()
      .min(1)
      .max(20)
      .default(6)
      .describe(
        "After so many raises of one pod within an hour it is taken for a leak and left alone until this AppMonitor is edited.",
      ),
    paused: z.boolean().default(false).describe("Touch nothing."),
  }),
  status: z.object({
    pods: count().default(0).describe("Pods that are looked after."),
    apps: count().default(0).describe("The apps they belong to."),
    raises: count().default(0).describe("Raises of these apps, ever."),
    oomKills: count().default(0).describe("Kills for lack of memory that were seen in these apps, ever."),
  }),
  conditions: {
    Ready: {
      True: { Watching: "Memory is being watched." },
      False: {
        Paused: "spec.paused is true: nothing is touched.",
        MetricsUnavailable: "Prometheus does not answer; nothing is done without samples, except after a kill.",
        AmbiguousMonitor: "Another AppMonitor selects the same pods; neither acts on them.",
      },
    },
    Degraded: {
      True: {
        SuspectedLeak: "An app was raised too often and is left alone.",
        RaisesFutile: "An app is killed again and again in spite of raises, and is left alone.",
        Contested: "Somebody takes back the memory that an app is given; it is left alone.",
        AtCeiling: "An app needs more than a cap allows.",
        AnotherAutoscaler: "Another autoscaler is in charge of the memory of an app.",
        Refused: "The API server refuses what should be done.",
      },
      False: { AsExpected: "Nothing stands in the way." },
    },
  },
  columns: [
    { name: "Threshold", path: ".spec.memThresholdPercent" },
    { name: "Multiplier", path: ".spec.memMultiplier" },
    { name: "Strategy", path: ".spec.strategy" },
    { name: "Pods", path: ".status.pods" },
    { name: "Raises", path: ".status.raises" },
    { name: "Status", condition: "Ready", show: "reason" },
    { name: "Degraded", condition: "Degraded", show: "reason", priority: 1 },
  ],
});
export type AppMonitor = ObjectOf<typeof AppMonitor>;
