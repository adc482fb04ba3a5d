// The Memcached kind. The CRD, its validation, the TypeScript types and `kubectl explain` come from this value.
import { defineResource, type ObjectOf, rule, z } from "@memhog/runtime";

export const defaults = { size: 3, version: "1.6", port: 11211 };
export const oddSize = "Cluster size must be an odd number";

/** The format of an image tag. */
export const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const tag = () => z.string().max(128).regex(tagForm);
const count = () => z.int().min(0).max(1000);

const trouble = {
  ImageNotPulled: "The image of the requested version cannot be pulled. The version may not exist.",
  ServersCrashing: "Servers crash right after their start.",
  NameConflict: "A Deployment of this name has another owner. It is not changed.",
  Stuck: "The API server rejects a request of the operator. The message has the details.",
};

export const Memcached = defineResource({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  shortNames: ["mc"],
  description: "A number of memcached servers of one version.",
  spec: z.object({
    size: z
      .int()
      .min(1)
      .max(99)
      .apply(rule, "self % 2 == 1", oddSize)
      .default(defaults.size)
      .describe("Number of servers. Must be odd."),
    version: tag()
      .default(defaults.version)
      .describe("Version of memcached: the tag of its image. A change is rolled out server by server."),
    // Ports below 1024 need root, and the servers do not run as root.
    containerPort: z.int().min(1024).max(65535).default(defaults.port).describe("Port of the servers."),
  }),
  status: z.object({
    replicas: count().describe("Number of servers."),
    readyReplicas: count().describe("Number of Ready servers."),
    // May exceed spec.size: during a rollout old and new servers exist.
    nodes: z.array(z.string().max(253)).max(200).describe("Names of the pods, sorted."),
    version: tag().optional().describe("Version that all servers run. Changes when a rollout is complete."),
    selector: z.string().max(1024).optional().describe("Label selector of the pods."),
  }),
  conditions: {
    Available: {
      True: { MinimumAvailable: "Enough servers are ready." },
      False: { TooFewReady: "Servers are missing or not ready yet.", ...trouble },
    },
    Progressing: {
      True: {
        RollingOut: "Servers are being replaced by servers of another version.",
        Scaling: "Servers are being added or removed.",
      },
      False: {
        Settled: "All servers match the spec.",
        Stalled: "The rollout makes no progress.",
        ...trouble,
      },
    },
    Degraded: {
      True: {
        PodsRefused: "The API server rejects new pods, for example because of a quota.",
        RolloutStalled: "The rollout makes no progress.",
        ...trouble,
      },
      False: ["AsExpected"],
    },
  },
  columns: [
    { name: "Size", path: ".spec.size" },
    { name: "Ready", path: ".status.readyReplicas" },
    { name: "Version", path: ".status.version" },
    { name: "Available", condition: "Available" },
    { name: "Status", condition: "Progressing", show: "reason" },
  ],
  rules: [{ rule: "size(self.metadata.name) <= 63", message: "the name must have at most 63 characters: it becomes a label" }],
  scale: { specPath: ".spec.size", statusPath: ".status.replicas", selectorPath: ".status.selector" },
});
export type Memcached = ObjectOf<typeof Memcached>;
