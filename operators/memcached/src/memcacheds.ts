// Keeps a Deployment for every Memcached and reports its status. Read `reconcile` from top to bottom.
//
//     api.ts        the kind                      deployment.ts  the Deployment          status.ts  the status
//     webhooks.ts   defaulting and validation     manifests.ts   generates deploy/       main.ts    the program
import {
  awaitChange,
  child,
  Deployment,
  defineController,
  done,
  isControlledBy,
  type ObjectRef,
  type Outcome,
  Pod,
  type Stored,
  view,
} from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { Memcached } from "./api.ts";
import { deploymentFor, eventsFor, instanceLabel, sizeDiffers } from "./deployment.ts";
import { type Observed, statusInTrouble, statusOf } from "./status.ts";

export interface MemcachedsOptions {
  /** Image repository without the tag, for example "memcached". */
  readonly repository: string;
  /** Called when a Deployment has another size than its Memcached. */
  readonly onUndesiredSize?: () => void;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

/** The caches keep only these. */
const ServerPod = view(Pod, { labelSelector: "app.kubernetes.io/name=memcached" });
const ServerSet = view(ReplicaSet, { labelSelector: "app.kubernetes.io/name=memcached" });

const definition = defineController(Memcached, {
  owns: [Deployment],
  watches: [
    // By name, not only by owner: the deletion of a conflicting Deployment matters.
    { kind: Deployment, map: ({ metadata: { namespace = "", name } }) => [{ namespace, name }] },
    { kind: ServerSet, map: memcachedOf },
    { kind: ServerPod, map: memcachedOf },
  ],
});
type Ctx = typeof definition.Context;

export function memcacheds({ repository, onUndesiredSize = () => {}, ...options }: MemcachedsOptions) {
  const reconcile = async (ref: ObjectRef, ctx: Ctx): Promise<Outcome> => {
    const memcached = ctx.get(Memcached, ref);
    if (memcached === undefined) return done();
    const observed = observe(memcached, ctx);
    const { deployment } = observed;
    if (deployment !== undefined && !isControlledBy(deployment, memcached.metadata.uid)) return reportConflict(memcached, ctx);
    const wanted = deploymentFor(memcached, repository);
    if (sizeDiffers(wanted, deployment)) onUndesiredSize();
    await ctx.applyChildren(memcached, [child(Deployment, wanted)]);
    for (const event of eventsFor(memcached, wanted, deployment)) ctx.event(memcached, event);
    await ctx.setStatus(memcached, statusOf(memcached, observed));
    return done();
  };
  return definition.reconcile(reconcile, {
    finalizer: { name: "cache.example.com/servers", cleanUp },
    onTerminalError: ({ message }, memcached) => statusInTrouble(memcached, { reason: "Stuck", message: message.slice(0, 1000) }),
    ...options,
  });
}

/** The Memcached that the labels name. Labels are enough to trigger a reconcile, and for nothing else. */
function memcachedOf({ metadata: { namespace = "", labels = {} } }: Stored<Pod | ReplicaSet>): readonly ObjectRef[] {
  const name = labels[instanceLabel];
  return name === undefined ? [] : [{ namespace, name }];
}

/** The Deployment and its pods, found by owner UID. Labels prove nothing. */
function observe({ metadata: { namespace = "", name } }: Stored<Memcached>, ctx: Ctx): Observed {
  const deployment = ctx.get(Deployment, { namespace, name });
  if (deployment === undefined) return { deployment, pods: [] };
  const sets = ctx.list(ServerSet, { ownedBy: deployment });
  const pods = sets.flatMap((set) => ctx.list(ServerPod, { ownedBy: set }));
  return { deployment, pods: pods.filter(isAlive) };
}

const isAlive = ({ metadata, status }: Stored<Pod>) =>
  metadata.deletionTimestamp === undefined && status?.phase !== "Failed" && status?.phase !== "Succeeded";

async function reportConflict(memcached: Stored<Memcached>, ctx: Ctx): Promise<Outcome> {
  const message = `Deployment ${memcached.metadata.name} belongs to someone else and is left alone; rename or remove one of them`;
  const before = memcached.status?.conditions?.find(({ type }) => type === "Degraded");
  if (before?.reason !== "NameConflict") ctx.event(memcached, { type: "Warning", reason: "NameConflict", message });
  await ctx.setStatus(memcached, statusInTrouble(memcached, { reason: "NameConflict", message }));
  return awaitChange("the Deployment has to be removed or the Memcached renamed");
}

/** The object is removed once its servers are gone. */
async function cleanUp(memcached: Stored<Memcached>, ctx: Ctx): Promise<Outcome> {
  const { uid, finalizers = [] } = memcached.metadata;
  if (finalizers.includes("orphan")) return done(); // kubectl delete --cascade=orphan: keep the servers
  const { deployment } = observe(memcached, ctx);
  if (deployment === undefined || !isControlledBy(deployment, uid)) return done();
  const { namespace = "", name, resourceVersion, deletionTimestamp } = deployment.metadata;
  if (deletionTimestamp === undefined) {
    ctx.event(memcached, { reason: "Stopping", message: `removing Deployment ${name} and its servers` });
    const only = { uid: deployment.metadata.uid, resourceVersion };
    // Foreground: the Deployment stays until its pods are gone.
    await ctx.client.delete(Deployment, { namespace, name }, { ...only, propagationPolicy: "Foreground" });
  }
  return awaitChange("servers are stopping");
}
