// The Gordon kind. The CRD, its validation, the TypeScript types and `kubectl explain` come from this value.
import { defineResource, type ObjectOf, z } from "@memhog/runtime";

const count = () => z.int().min(0).max(1000);

export const Gordon = defineResource({
  group: "operator.prgcont.cz",
  version: "v1",
  kind: "Gordon",
  shortNames: ["gn"],
  description: "Keeps a number of gordons running.",
  spec: z.object({
    gordon: z.object({ replicas: count().describe("Number of gordons to keep running.") }).describe("Settings of the gordons."),
  }),
  status: z.object({
    replicas: count().describe("Number of gordons."),
    readyReplicas: count().describe("Number of Ready gordons."),
    pods: z.array(z.string().max(253)).max(1000).describe("Names of the pods, by ordinal."),
    selector: z.string().max(1024).optional().describe("Label selector of the pods."),
  }),
  conditions: {
    Ready: {
      True: { AllPodsReady: "The requested number of gordons is ready." },
      False: {
        PodsMissing: "Some gordons have not been created yet.",
        PodsNotReady: "Some gordons are not ready yet.",
        TooManyPods: "Some gordons have not been removed yet.",
        NameTaken: "A pod of another owner has the name of a gordon. It is not changed.",
        Stuck: "The API server rejects a request of the operator. The message has the details.",
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
