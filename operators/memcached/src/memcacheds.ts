// Keeps a Deployment for every Memcached, and says how it is. Read `reconcile` from top to bottom.
//
//     api.ts          the kind            deployment.ts   what it becomes         status.ts   what it says
//     webhooks.ts     what is refused     manifests.ts    the files of deploy/    main.ts     the program
import {
  type ContextFor,
  child,
  controller,
  Deployment,
  done,
  isControlledBy,
  type ObjectRef,
  type Outcome,
  Pod,
  ReplicaSet,
  type Stored,
  view,
  waitForChange,
} from "@memhog/runtime";
import { Memcached } from "./api.ts";
import { deploymentFor, instanceLabel, remarksOn, sizeDiffers } from "./deployment.ts";
import { type Observed, statusInTrouble, statusOf } from "./status.ts";

export interface MemcachedsOptions {
  /** Where images come from, without the tag: "memcached". */
  readonly repository: string;
  /** Told whenever the number of servers was found to be another than it should be. */
  readonly onUndesiredSize?: () => void;
  /** See ControllerOptions. */
  readonly resyncMs?: number;
}

/** Only these are kept in memory. */
const ServerPod = view(Pod, { labelSelector: "app.kubernetes.io/name=memcached" });
const ServerSet = view(ReplicaSet, { labelSelector: "app.kubernetes.io/name=memcached" });

type Watched = readonly [typeof Deployment, typeof ServerSet, typeof ServerPod];
type Ctx = ContextFor<typeof Memcached, readonly [typeof Deployment], Watched, readonly []>;

/** The controller. */
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
    for (const remark of remarksOn(memcached, wanted, deployment)) ctx.event(memcached, remark);
    await ctx.setStatus(memcached, statusOf(memcached, observed));
    return done();
  };
  return controller(
    Memcached,
    {
      owns: [Deployment],
      watches: [
        // By name, not only by owner: a stranger's Deployment that goes makes room for ours.
        { kind: Deployment, map: ({ metadata: { namespace = "", name } }) => [{ namespace, name }] },
        { kind: ServerSet, map: memcachedOf },
        { kind: ServerPod, map: memcachedOf },
      ],
      finalizer: { name: "cache.example.com/servers", cleanUp },
      whenStuck: ({ message }, memcached) => statusInTrouble(memcached, { reason: "Stuck", message: message.slice(0, 1000) }),
      ...options,
    },
    reconcile,
  );
}

/** Whose pod this says it is. That it says so is enough to look again, and for nothing else. */
function memcachedOf({ metadata: { namespace = "", labels = {} } }: Stored<Pod | ReplicaSet>): readonly ObjectRef[] {
  const name = labels[instanceLabel];
  return name === undefined ? [] : [{ namespace, name }];
}

/** The Deployment of that name, and its pods: those of its ReplicaSets, by UID. Labels prove nothing. */
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
  if (before?.reason !== "NameConflict") ctx.event(memcached, { type: "Warning", reason: "NameConflict", note: message });
  await ctx.setStatus(memcached, statusInTrouble(memcached, { reason: "NameConflict", message }));
  return waitForChange("somebody has to remove that Deployment or rename this Memcached");
}

/** The object goes when its servers are gone. */
async function cleanUp(memcached: Stored<Memcached>, ctx: Ctx): Promise<Outcome> {
  const { uid, finalizers = [] } = memcached.metadata;
  if (finalizers.includes("orphan")) return done(); // kubectl delete --cascade=orphan: the servers shall live on
  const { deployment } = observe(memcached, ctx);
  if (deployment === undefined || !isControlledBy(deployment, uid)) return done();
  const { namespace = "", name, resourceVersion, deletionTimestamp } = deployment.metadata;
  if (deletionTimestamp === undefined) {
    ctx.event(memcached, { reason: "Stopping", note: `removing Deployment ${name} and its servers` });
    const only = { uid: deployment.metadata.uid, resourceVersion };
    // Foreground: it stays until its pods are gone, and so do we.
    await ctx.client.delete(Deployment, { namespace, name }, { ...only, propagationPolicy: "Foreground" });
  }
  return waitForChange("servers are stopping");
}
