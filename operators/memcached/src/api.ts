// What people ask of memcached, and what they are told. The CRD, its validation, the types and `kubectl explain` are this value.
import { defineResource, type ObjectOf, rule, z } from "@memhog/runtime";

export const usual = { size: 3, version: "1.6", port: 11211 };
export const oddSize = "Cluster size must be an odd number";

/** What may follow the colon in the name of an image. */
export const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const tag = () => z.string().max(128).regex(tagForm);
const count = () => z.int().min(0).max(1000);

const trouble = {
  ImageNotPulled: "The image of the wanted version cannot be pulled: there may be no such version.",
  ServersCrashing: "Servers end right after their start, again and again.",
  NameConflict: "A Deployment of this name belongs to someone else. It is left alone.",
  Stuck: "The API server refuses what should be done; the message says what.",
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
      .default(usual.size)
      .describe("How many servers; an odd number."),
    version: tag()
      .default(usual.version)
      .describe("Of memcached: the tag of its image. A change is rolled out server by server."),
    // Nobody but root may listen below 1024, and the servers are not root.
    containerPort: z.int().min(1024).max(65535).default(usual.port).describe("Where the servers listen."),
  }),
  status: z.object({
    replicas: count().describe("How many servers there are."),
    readyReplicas: count().describe("How many of them are ready."),
    // More than spec.size can be: during a rollout old and new servers are there.
    nodes: z.array(z.string().max(253)).max(200).describe("The pods of the servers, sorted."),
    version: tag().optional().describe("The version that runs everywhere; it moves when a rollout has ended."),
    selector: z.string().max(1024).optional().describe("A label selector for the pods of the servers."),
  }),
  conditions: {
    Available: {
      True: { MinimumAvailable: "Enough servers are ready." },
      False: { TooFewReady: "Servers are missing or not ready yet.", ...trouble },
    },
    Progressing: {
      True: { RollingOut: "Servers are replaced by servers of another version.", Scaling: "Servers are added or removed." },
      False: {
        Settled: "Everything is as it was asked for.",
        Stalled: "The rollout makes no progress.",
        ...trouble,
      },
    },
    Degraded: {
      True: {
        PodsRefused: "Pods may not be made: a quota, a policy.",
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
