// AppMemory: what memhog stores about one app. One object per app; it is written only when something changed. Only memhog writes it.
// People read it (`kubectl get appmemories`) and delete it to make memhog start over.
import { defineResource, keyedList, type ObjectOf, z } from "@memhog/runtime";
import { keptActions } from "../model/plan.ts";
import { actionCauses, holdReasons, raiseReasons, waitReasons } from "../model/reasons.ts";
import { group } from "./names.ts";

/** The keys of a table of reasons. */
const wordsOf = <T extends object>(table: T) => Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];

const name = () => z.string().max(253);
const uid = () => z.string().max(64);
const time = () => z.iso.datetime();
// A string, not quantity(): three lists deep, its CEL rules would exceed the cost limit of the API server.
const amount = () => z.string().max(64);
const sentence = () => z.string().max(1024);
const count = () => z.int().min(0).max(1_000_000);
const raiseReason = () => z.enum(wordsOf(raiseReasons));

const memory = (what: string) =>
  z
    .object({
      limit: amount().describe("Memory limit."),
      request: amount().optional().describe("Memory request."),
    })
    .describe(what);

const change = z.object({
  container: name().describe("Name of the container."),
  from: memory("Memory before the raise."),
  to: memory("Memory after the raise."),
  cappedBy: z.string().max(320).optional().describe("Cap that made the raise smaller than the policy asks for."),
  measured: z
    .object({
      usage: amount().describe("Memory usage."),
      at: time().describe("Time of the measurement."),
      restart: count().describe("Restart count of the container."),
      still: z.boolean().optional().describe("Usage did not grow at that time."),
      fellBack: z.boolean().optional().describe("Usage has been lower by a quarter since."),
    })
    .optional()
    .describe("Newest sample at the time of the decision."),
});
const changes = () => z.array(change).max(40).describe("Changes per container.");
const podRef = () =>
  z.object({ name: name().describe("Name of the pod."), uid: uid().describe("UID of the pod.") }).describe("Pod to be raised.");
const method = () =>
  z
    .enum(["InPlace", "CopyPod", "Template"])
    .describe("How the pod gets the memory: resized in place, replaced by a larger copy, or through its owner's pod template.");

const intent = z.object({
  id: z.string().max(128).describe("Deterministic identifier: two leaders that make the same decision write the same one."),
  method: method(),
  pod: podRef(),
  changes: changes(),
  reason: raiseReason().describe("Reason for the raise."),
  at: time().describe("Time of the decision."),
  attempt: z.int().min(1).max(1000).describe("Number of this attempt, starting at 1."),
  copy: name().optional().describe("Name of the larger copy. Only for method CopyPod."),
  copyUid: uid().optional().describe("UID of the larger copy, once it is created. No other pod is taken for the copy."),
  limitsApplied: z
    .boolean()
    .optional()
    .describe("The kubelet has confirmed the limits. The requests follow when the node has room."),
  waiting: z
    .object({
      reason: z.enum(wordsOf(waitReasons)).describe("Machine-readable reason."),
      message: sentence().optional().describe("Human-readable message, for example from the API server."),
    })
    .optional()
    .describe("Why the raise makes no progress. Unset while it does."),
});

const action = z.object({
  at: time().describe("Time of the decision; for a raise that failed, the time of the failure."),
  method: method(),
  pod: podRef(),
  changes: changes(),
  reason: raiseReason().describe("Reason for the raise."),
  outcome: z.enum(["Applied", "Abandoned", "Infeasible", "Refused", "NotReady"]).describe("How the raise ended."),
  cause: z.enum(wordsOf(actionCauses)).optional().describe("Machine-readable cause, where the outcome alone does not tell."),
  message: sentence().optional().describe("Human-readable message."),
});

const learned = z.object({
  container: name().describe("Name of the container."),
  revision: name().optional().describe("Revision of the pod template. Only pods of this revision get the memory."),
  limit: amount().describe("Memory limit for new pods."),
  request: amount().optional().describe("Memory request for new pods."),
  at: time().describe("Time at which this was learned. Only pods created later get it from the start."),
});

const ofContainer = { uid: uid().describe("UID of the pod."), container: name().describe("Name of the container.") };
const kill = z.object({ ...ofContainer, restart: count().describe("Restart count of the container when it was killed.") });
const given = z.object({ ...ofContainer, limit: amount().describe("Memory limit that the pod was given.") });
const stop = z.object({
  reason: z.enum(["SuspectedLeak", "UsageFollowsLimit", "RaisesIneffective", "Contested"]).describe("Reason for the stop."),
  at: time().describe("Time of the stop."),
  uid: uid().optional().describe("UID of the pod. Unset if the whole app is stopped."),
  container: name().optional().describe("Name of the container. Unset if all containers are stopped."),
  monitorUid: uid().describe("UID of the AppMonitor at the time of the stop."),
  monitorGeneration: count().describe("Generation of that AppMonitor. Editing the AppMonitor ends the stop."),
});

const shrink = z.object({
  pod: podRef(),
  container: name().describe("Name of the container."),
  from: memory("Memory before."),
  to: memory("Memory after."),
  at: time().describe("Time of the decision."),
  state: z
    .enum(["Pending", "Applied", "Reverting", "Undone", "Refused"])
    .describe(
      "Pending until the kubelet confirms it. Reverting while a limit that the kubelet cannot apply is set back. Undone if usage came " +
        "near; this container is not lowered again. Refused by the API server; tried again after a day.",
    ),
});

export const AppMemory = defineResource({
  group,
  version: "v1",
  kind: "AppMemory",
  plural: "appmemories",
  shortNames: ["appmem"],
  categories: ["memhog"],
  description: "AppMemory records what memhog knows about the memory of one app, and what it did. Written by memhog only.",
  spec: z.object({
    app: z
      .string()
      .max(320)
      .describe(
        "Kind and name of the app, which is the topmost known owner of its pods: Deployment/web, or Pod/web for a bare pod.",
      ),
  }),
  status: z.object({
    phase: z.enum(["Watching", "Raising", "Waiting", "Stopped"]).optional().describe("Current phase of the app."),
    reason: z
      .enum([...Object.keys(raiseReasons), ...Object.keys(holdReasons)] as [string, ...string[]])
      .optional()
      .describe("Reason for the current phase."),
    container: name().optional().describe("Container that limit, wanted and applied refer to."),
    limit: amount().optional().describe("Memory limit in the spec of the container."),
    wanted: amount().optional().describe("Memory limit that the AppMonitor asks for."),
    applied: amount().optional().describe("Memory limit that the kubelet reports."),
    learned: z.array(learned).max(40).optional().describe("Memory that new pods get from the start. Forgotten after 14 days."),
    intents: keyedList(intent, "id").max(50).optional().describe("Raises in progress. Stored before anything is changed."),
    actions: z.array(action).max(keptActions).optional().describe("Past raises, oldest first."),
    kills: z.array(kill).max(500).optional().describe("OOM kills that have been counted."),
    given: z.array(given).max(500).optional().describe("Memory limits that pods and templates were given, to detect reverts."),
    reverts: count().optional().describe("How often another client reverted the memory."),
    stops: z.array(stop).max(100).optional().describe("Pods that are no longer raised, and why."),
    shrinks: z
      .array(shrink)
      .max(100)
      .optional()
      .describe("Decreases: the last one of each container, and those that were undone."),
    raises: count().optional().describe("Total number of raises."),
    oomKills: count().optional().describe("Total number of OOM kills observed."),
  }),
  conditions: {
    Settled: {
      True: { AsWanted: "Every container has the memory that the AppMonitor asks for." },
      False: {
        Raising: "A raise is in progress.",
        Waiting: "A raise is waiting, for example for room on the node, a rollout or a cooldown.",
        Stopped: "The app is no longer raised; status.reason tells why.",
      },
    },
  },
  columns: [
    { name: "App", path: ".spec.app" },
    { name: "Limit", path: ".status.limit", type: "string" },
    { name: "Wanted", path: ".status.wanted", type: "string" },
    { name: "Applied", path: ".status.applied", type: "string" },
    { name: "OOMKills", path: ".status.oomKills" },
    { name: "Phase", path: ".status.phase" },
    { name: "Reason", path: ".status.reason" },
  ],
});
export type AppMemory = ObjectOf<typeof AppMemory>;
