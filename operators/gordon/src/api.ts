// What people ask of gordons, and what they are told. The CRD, its validation, the types and `kubectl explain` are this value.
import { defineResource, type ObjectOf, z } from "@memhog/runtime";

const count = () => z.int().min(0).max(1000);

export const Gordon = defineResource({
  group: "operator.prgcont.cz",
  version: "v1",
  kind: "Gordon",
  shortNames: ["gn"],
  description: "Keeps a number of gordons running.",
  spec: z.object({
    gordon: z
      .object({ replicas: count().describe("How many gordons to keep running.") })
      .describe("The gordons that this object stands for."),
  }),
  status: z.object({
    replicas: count().describe("How many gordons there are."),
    readyReplicas: count().describe("How many of them are ready."),
    pods: z.array(z.string().max(253)).max(1000).describe("Their pods, in the order of their numbers."),
    selector: z.string().max(1024).optional().describe("A label selector for their pods."),
  }),
  conditions: {
    Ready: {
      True: { AllPodsReady: "As many gordons are ready as were asked for." },
      False: {
        PodsMissing: "Some gordons are still to be made, or to be made again.",
        PodsNotReady: "All gordons are there, but not all of them are ready.",
        TooManyPods: "Some gordons are still to go.",
        NameTaken: "A pod that is not ours has the name that one of our gordons should have. It is left alone.",
        Stuck: "The API server refuses what should be done; the message says what.",
      },
    },
  },
  columns: [
    { name: "Desired", path: ".spec.gordon.replicas" },
    { name: "Ready", path: ".status.readyReplicas" },
    { name: "Status", condition: "Ready", show: "reason" },
  ],
  rules: [{ rule: "size(self.metadata.name) <= 63", message: "the name must have at most 63 characters: it becomes a label" }],
  scale: { specPath: ".spec.gordon.replicas", statusPath: ".status.replicas", selectorPath: ".status.selector" },
});
export type Gordon = ObjectOf<typeof Gordon>;
