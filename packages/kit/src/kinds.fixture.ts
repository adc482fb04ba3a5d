// For tests: two small kinds with everything that the kit reads: fields, conditions, columns, and one of them with a scale subresource.
import { defineResource, z } from "@memhog/runtime";

const count = () => z.int().min(0).max(1000);

export const Gordon = defineResource({
  ...{ group: "operator.prgcont.cz", version: "v1", kind: "Gordon", shortNames: ["gn"] },
  description: "Keeps a number of gordons running.",
  spec: z.object({ replicas: count().describe("How many gordons to keep running.") }),
  status: z.object({ readyReplicas: count().default(0).describe("How many of them are ready.") }),
  conditions: { Ready: { True: ["AllPodsRunning"], False: ["PodsMissing"] } },
  columns: [
    { name: "Ready", path: ".status.readyReplicas" },
    { name: "Status", condition: "Ready", show: "reason" },
  ],
  scale: { specPath: ".spec.replicas", statusPath: ".status.readyReplicas" },
});

export const Memcached = defineResource({
  ...{ group: "cache.example.com", version: "v1alpha1", kind: "Memcached", shortNames: ["mc"] },
  spec: z.object({ size: count().default(3).describe("How many servers.") }),
  status: z.object({ readyReplicas: count().default(0).describe("How many are ready.") }),
  conditions: {
    Degraded: { True: { NameConflict: "A Deployment of this name belongs to someone else." }, False: ["AsExpected"] },
  },
});
