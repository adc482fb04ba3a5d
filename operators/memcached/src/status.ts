// The status of a Memcached: a pure function of its spec, its Deployment and the Deployment's pods.
//
//     Available    enough servers are ready, and the requested version can run (False for a bad tag, even while servers of the
//                  previous version still serve; the message says so)
//     Progressing  the Deployment is changing
//     Degraded     it will not recover by itself
import {
  condition,
  type Deployment,
  findCondition,
  hasCondition,
  type Pod,
  type StatusInput,
  type Stored,
} from "@memhog/runtime";
import { formatSelector } from "@memhog/runtime/objects";
import { Memcached } from "./api.ts";
import { selectorOf, versionIn } from "./deployment.ts";

export interface Observed {
  readonly deployment: Stored<Deployment> | undefined;
  /** The pods of the Deployment that are not being deleted. */
  readonly pods: readonly Stored<Pod>[];
}

type Status = StatusInput<typeof Memcached>;
type Trouble = { readonly reason: "ImageNotPulled" | "ServersCrashing" | "NameConflict" | "Stuck"; readonly message: string };

export function statusOf(memcached: Stored<Memcached>, observed: Observed): Status {
  const { deployment, pods } = observed;
  const version = deployment !== undefined && isRolledOut(deployment) ? versionIn(deployment) : memcached.status?.version;
  const { size } = memcached.spec;
  const ready = pods.filter(isReady).length;
  const counted = `${ready} of ${size} servers are ready`;
  const trouble = troubleIn(observed, counted);
  const conditions = [
    availability(trouble, size, ready, counted),
    progress(memcached, observed, trouble, counted),
    degradation(observed, trouble, counted),
  ];
  return { ...countsOf(memcached, pods), ...(version !== undefined && { version }), conditions };
}

/** The status when the operator cannot act. Keeps the last known counts, unless the servers have another owner. */
export function statusInTrouble(memcached: Stored<Memcached>, { reason, message }: Trouble): Status {
  const known = { ...countsOf(memcached, []), ...memcached.status };
  const counts = reason === "NameConflict" ? countsOf(memcached, []) : {};
  const conditions = [
    condition(Memcached, "Available", reason, message),
    condition(Memcached, "Progressing", reason, message),
    condition(Memcached, "Degraded", reason, message),
  ];
  return { ...known, ...counts, conditions };
}

function countsOf({ metadata }: Stored<Memcached>, pods: readonly Stored<Pod>[]) {
  return {
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    nodes: pods.map(({ metadata }) => metadata.name).sort(),
    selector: formatSelector({ matchLabels: selectorOf(metadata.name) }),
  };
}

function availability(trouble: Trouble | undefined, size: number, ready: number, counted: string) {
  // A rolling update may remove a quarter of the servers at once, rounded down.
  const enough = size - Math.floor(size / 4);
  if (trouble?.reason === "ImageNotPulled" || (trouble !== undefined && ready < enough))
    return condition(Memcached, "Available", trouble.reason, trouble.message);
  return ready < enough
    ? condition(Memcached, "Available", "TooFewReady", counted)
    : condition(Memcached, "Available", "MinimumAvailable", counted);
}

function progress({ spec, status }: Stored<Memcached>, { deployment }: Observed, trouble: Trouble | undefined, counted: string) {
  if (deployment !== undefined && isRolledOut(deployment) && isFor(deployment, spec)) {
    return condition(Memcached, "Progressing", "Settled", `${spec.size} servers of version ${spec.version}`);
  }
  if (trouble !== undefined) return condition(Memcached, "Progressing", trouble.reason, trouble.message);
  if (isStalled(deployment)) return condition(Memcached, "Progressing", "Stalled", counted);
  const moves = status?.version !== undefined && status.version !== spec.version;
  if (moves) return condition(Memcached, "Progressing", "RollingOut", `from version ${status.version} to ${spec.version}`);
  return condition(Memcached, "Progressing", "Scaling", counted);
}

function degradation({ deployment }: Observed, trouble: Trouble | undefined, counted: string) {
  if (trouble !== undefined) return condition(Memcached, "Degraded", trouble.reason, trouble.message);
  const refused = findCondition(deployment?.status?.conditions, "ReplicaFailure");
  if (refused?.status === "True") return condition(Memcached, "Degraded", "PodsRefused", (refused.message ?? "").slice(0, 1000));
  if (isStalled(deployment)) return condition(Memcached, "Degraded", "RolloutStalled", counted);
  return condition(Memcached, "Degraded", "AsExpected", counted);
}

const pullReasons = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];

/** Why the servers of the requested version do not run, from the state of their containers. */
function troubleIn({ pods }: Observed, counted: string): Trouble | undefined {
  const waiting = pods.flatMap(({ spec, status }) =>
    (status?.containerStatuses ?? []).map(({ state }) => ({
      why: state?.waiting?.reason ?? "",
      image: spec.containers[0]?.image,
    })),
  );
  const unpulled = waiting.find(({ why }) => pullReasons.includes(why));
  if (unpulled !== undefined) return { reason: "ImageNotPulled", message: `${unpulled.image} cannot be pulled; ${counted}` };
  const crashing = waiting.find(({ why }) => why === "CrashLoopBackOff");
  return crashing && { reason: "ServersCrashing", message: `${crashing.image} ends right after its start; ${counted}` };
}

const isReady = ({ status }: Pod) => hasCondition(status?.conditions, "Ready", "True");

const isStalled = (deployment: Deployment | undefined) =>
  findCondition(deployment?.status?.conditions, "Progressing")?.reason === "ProgressDeadlineExceeded";

const isFor = (deployment: Deployment, { size, version }: Memcached["spec"]) =>
  deployment.spec.replicas === size && versionIn(deployment) === version;

/** All servers match the template and are available, and no others are left. */
export function isRolledOut({ metadata, spec, status = {} }: Stored<Deployment>): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const current = observedGeneration >= (metadata.generation ?? 0);
  return current && [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
}
