// What was learned about one app, what is intended and what was done: one object per app, written only when something changed.
// It is ours: people read it (`kubectl get appmemories`), and delete it to make us forget.
import { defineResource, keyedList, type ObjectOf, z } from "@memhog/runtime";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { group } from "./names.ts";

/** How many past actions are kept: enough to count the raises of an hour. */
export const keptActions = 50;

const name = () => z.string().max(253);
const uid = () => z.string().max(64);
const time = () => z.iso.datetime();
// Plain text, not quantity(): its rules, three lists deep, would cost more than an API server allows, and only we write these.
const amount = () => z.string().max(64);
const sentence = () => z.string().max(1024);
const count = () => z.int().min(0).max(1_000_000);
const raiseReason = () => z.enum(Object.keys(raiseReasons) as [keyof typeof raiseReasons, ...(keyof typeof raiseReasons)[]]);

const memory = (what: string) =>
  z
    .object({
      limit: amount().describe("The memory limit."),
      request: amount().optional().describe("The memory request."),
    })
    .describe(what);

const change = z.object({
  container: name().describe("Its name."),
  from: memory("What it had."),
  to: memory("What it gets."),
  cappedBy: sentence().optional().describe("The cap that made it less than was wanted."),
});
const changes = () => z.array(change).max(40).describe("Container by container.");
const podRef = () => z.object({ name: name().describe("Its name."), uid: uid().describe("Its UID.") }).describe("The pod.");
const road = () => z.enum(["InPlace", "CopyPod", "Template"]).describe("How the memory reaches the pod.");

const intent = z.object({
  id: z.string().max(128).describe("The same for everyone who has this intent."),
  road: road(),
  pod: podRef(),
  changes: changes(),
  reason: raiseReason().describe("Why."),
  at: time().describe("When it was decided."),
  attempt: z.int().min(1).max(1000).describe("How often it was tried."),
  copy: name().optional().describe("The name of the bigger copy."),
  limitsApplied: z.boolean().optional().describe("The limits are confirmed; the requests follow where the node has room."),
  waitingFor: sentence().optional().describe("Why it does not go on."),
});

const action = z.object({
  at: time().describe("When it was decided."),
  road: road(),
  pod: podRef(),
  changes: changes(),
  reason: raiseReason().describe("Why."),
  outcome: z.enum(["Applied", "Abandoned", "Infeasible", "Refused", "NotReady"]).describe("How it ended."),
  detail: sentence().optional().describe("What is worth knowing about it."),
});

const learned = z.object({
  container: name().describe("Its name."),
  limit: amount().describe("The limit that new pods get."),
  request: amount().optional().describe("The request that new pods get."),
  at: time().describe("When this was learned; older pods get it only when they need it themselves."),
});

const ofContainer = { uid: uid().describe("Of the pod."), container: name().describe("The container.") };
const kill = z.object({ ...ofContainer, restart: count().describe("The restart count of the container that was killed.") });
const given = z.object({ ...ofContainer, limit: amount().describe("The limit that was confirmed.") });
const stop = z.object({
  reason: z.enum(["SuspectedLeak", "RaisesFutile", "Contested"]).describe("Why."),
  at: time().describe("Since when."),
  uid: uid().optional().describe("The pod; none: the whole app."),
  monitorUid: uid().describe("Of the AppMonitor then in charge."),
  monitorGeneration: count().describe("Of that AppMonitor: an edit of it lifts the stop."),
});

export const AppMemory = defineResource({
  group,
  version: "v1",
  kind: "AppMemory",
  plural: "appmemories",
  shortNames: ["appmem"],
  categories: ["memhog"],
  description: "What the memhog-operator knows about the memory of one app, and what it did.",
  spec: z.object({
    app: z
      .string()
      .max(320)
      .describe("Kind and name of the app, the top-most known owner of its pods: Deployment/web. Pod/… for a bare pod."),
  }),
  status: z.object({
    phase: z.enum(["Watching", "Raising", "Waiting", "Stopped"]).optional().describe("Where it is."),
    reason: z
      .enum([...Object.keys(raiseReasons), ...Object.keys(holdReasons)] as [string, ...string[]])
      .optional()
      .describe("Why it is there."),
    container: name().optional().describe("The container that the next three fields speak of."),
    limit: amount().optional().describe("What it has."),
    wanted: amount().optional().describe("What the policy asks for."),
    applied: amount().optional().describe("What the kubelet confirms."),
    learned: keyedList(learned, "container").max(40).optional().describe("What new pods get from the start."),
    intents: keyedList(intent, "id").max(50).optional().describe("What is being done; written before it is done."),
    actions: z.array(action).max(keptActions).optional().describe("What was done, oldest first."),
    kills: z.array(kill).max(500).optional().describe("Kills for lack of memory that were counted."),
    given: z.array(given).max(500).optional().describe("What pods were given in place."),
    reverts: count().optional().describe("How often somebody took it back."),
    stops: z.array(stop).max(100).optional().describe("What is left alone, and why."),
    raises: count().optional().describe("Raises, ever."),
    oomKills: count().optional().describe("Kills that were seen, ever."),
  }),
  conditions: {
    Settled: {
      True: { AsWanted: "Every container has what the policy asks for." },
      False: {
        Raising: "A raise is under way.",
        Waiting: "A raise waits for something: room on the node, a rollout, a cooldown.",
        Stopped: "The app is left alone; status.reason says why.",
      },
    },
  },
  columns: [
    { name: "App", path: ".spec.app" },
    { name: "Limit", path: ".status.limit", type: "string" },
    { name: "Wanted", path: ".status.wanted", type: "string" },
    { name: "Applied", path: ".status.applied", type: "string" },
    { name: "Phase", path: ".status.phase" },
    { name: "Reason", path: ".status.reason" },
  ],
});
export type AppMemory = ObjectOf<typeof AppMemory>;
