// What a Memcached says about itself: a function of its spec, its Deployment and the pods of that. The three conditions answer
// three questions, each on its own: can it be used, is it changing, does somebody have to look?
//
//     Available   enough servers are ready, and the wanted version can run at all (a bad tag is not available, even while
//                 servers of the version before still serve; the message says so)
//     Progressing the Deployment is on its way
//     Degraded    it will not get there by itself
import {
  condition,
  type Deployment,
  findCondition,
  formatSelector,
  hasCondition,
  type Pod,
  type StatusInput,
  type Stored,
} from "@memhog/runtime";
import { Memcached } from "./api.ts";
import { selectorOf, versionIn } from "./deployment.ts";

export interface Observed {
  readonly deployment: Stored<Deployment> | undefined;
  /** The pods of the Deployment, without those that are about to go. */
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

/** What is said when nothing can be done: what was known of the servers, unless they turned out not to be ours, and why. */
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
  // What a rolling update may take away at once: a quarter, rounded down.
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

/** What keeps the servers of the wanted version from running, as their containers say it. */
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

/** All servers are of the Deployment's template, all are available, and no others are left. */
export function isRolledOut({ metadata, spec, status = {} }: Stored<Deployment>): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const current = observedGeneration >= (metadata.generation ?? 0);
  return current && [replicas, updatedReplicas, availableReplicas].every((count) => count === spec.replicas);
}
