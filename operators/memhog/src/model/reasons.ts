// Every reason that memhog gives. Reasons are public API: they appear in conditions, Events, metrics, logs and `explain`, and
// people write alerts on them. The sentences are documentation (docs/reference is generated from them), and no code depends on them.

/** Why the memory of a container is raised. */
export const raiseReasons = {
  ThresholdCrossed: "usage has reached memThresholdPercent of the limit",
  WillRunOut: "at the current rate of growth, usage reaches the limit within lookaheadSeconds",
  OutOfMemory: "the container was OOM-killed",
  LearnedBefore: "other pods of the app needed more memory than this new pod has",
} as const;

/** Why the memory of a container is left as it is. */
export const holdReasons = {
  BelowThreshold: "usage is below memThresholdPercent of the limit and will not reach the limit soon",
  NotMonitored: 'the pod does not have the annotation app-monitor.kubedemo.com/monitor: "true"',
  NoMonitor: "no AppMonitor in the namespace selects the pod",
  AmbiguousMonitor: "several equally specific AppMonitors select the app; none of them acts on it",
  Paused: "the AppMonitor is paused",
  NoLimit: "the container has no memory limit to compare its usage with",
  PodLevelLimit: "the container has no memory limit of its own, only its pod has one; memhog does not raise limits of pods",
  NotRunning: "the container is not running",
  Terminating: "the pod is being deleted",
  NoSample: "there is no sample of the container's memory yet",
  SampleStale: "the newest sample is too old to act on",
  MetricsUnavailable: "Prometheus does not answer",
  ResizeInProgress: "the previous raise has not been applied yet",
  ResizeDeferred: "the node has no room for the previous raise now; the kubelet retries",
  CoolingDown: "the previous raise was less than cooldownSeconds ago",
  AwaitingSample: "the previous raise answered the newest sample; the next sample decides",
  CapReached: "maxMemory or its default, a LimitRange, a ResourceQuota or the node allows no more memory",
  OutOfMemoryAtCap: "the container was OOM-killed within the last hour, and a cap allows no more memory",
  SuspectedLeak:
    "usage kept growing over several raises and never fell back, or the container was raised maxRaisesPerHour times within an hour; more memory would only hide a leak",
  UsageFollowsLimit: "usage stood still at the same share of two limits in a row: the program sizes itself by its limit",
  NodeUnderPressure: "the node reports MemoryPressure; a higher limit would take memory from other pods",
  RaisesIneffective: "the container kept being OOM-killed after several raises",
  Contested: "another client keeps reverting the memory",
  ManagedByAutoscaler: "another autoscaler manages this memory",
  RecommendOnly: "the strategy is Recommend; the raise is reported and not made",
  InPlaceImpossible: "the pod cannot be resized in place, and it must not be replaced",
  InPlaceOnly: "the pod would have to be replaced, and memhog runs with --in-place-only",
  OwnerNotEditable: "the pod cannot be resized in place, and memhog does not edit owners of this kind",
  WouldCauseDowntime:
    "a redeployment would remove every Ready pod before a new one is Ready; add a replica, allow the rollout to surge, or use strategy Auto",
  CopyUnsafe:
    "the pod cannot be resized in place, and a copy must not run next to it: the pod writes to a volume, or is not restarted when it ends",
  ReplacementNotReady: "the larger copy of the pod did not become Ready; the original stays",
  RolloutInProgress: "the owner of the pod is rolling out",
  RolloutUndone: "the last rollout by memhog made no progress and was undone; memhog tries it again later",
  Busy: "too many raises are in progress at the same time",
  CircuitOpen: "the last redeployments did not become Ready; redeployments are suspended for a while",
  Refused: "the API server rejected the previous attempt; memhog retries later",
} as const;

/** Why memory that a container does not use is taken back, or not. Only with spec.shrink. */
export const shrinkReasons = {
  ShrinkDue: "during the whole window the container used much less than it has",
  NothingToShrink: "the container has what its peak and the margin need, or what its template asks for",
  WindowIncomplete: "Prometheus does not have samples for the whole window, or did not answer in full",
  ShrunkToday: "the last step was less than a day ago",
  ShrinkUndone: "the container needed more after it was lowered; it is not lowered again",
  ShrinkBlocked: "the pod cannot be lowered in place now: a resize, a stop, an OOM kill or another autoscaler is in the way",
} as const;

/** Why a raise that has begun makes no progress. */
export const waitReasons = {
  ResizeDeferred: "the node has no room for it now; the kubelet retries",
  ResizeInfeasible: "it can never fit on the node",
  ResizeError: "the kubelet reports an error while resizing the pod",
  NoRoomForRequest: "the limits are applied; the node has no room for the memory requests",
  RequestReverting: "the node has no room for the memory requests; they are set back to what the kubelet admitted",
  CopyNotReady: "the larger copy is not Ready yet",
  CopyTerminating: "the larger copy is being deleted",
  CopyGivenUp: "the larger copy did not become Ready in time and is being deleted",
  CopyWithdrawn: "the raise is no longer asked for; the larger copy is being deleted",
  OriginalTerminating: "the larger copy is Ready; the original pod is being deleted",
  RolloutInProgress: "the owner is rolling out the new pod template",
  RollingBack: "the rollout made no progress; the memory in the pod template is set back to what it was",
  PodsNotReady: "the replaced pods are not Ready yet",
  OnlyReplica: "the only replica is not evicted; add a second one",
  NotMonitored: "the next pod to be evicted is not monitored",
  Refused: "the API server rejected it",
  NameTaken: "another pod has the name of the larger copy",
} as const;

/** Why a raise was not applied, where the outcome alone does not tell. */
export const actionCauses = {
  NoEffect: "the API server accepted it, but nothing changed within 10 minutes",
  NameTaken: waitReasons.NameTaken,
  Withdrawn: "the raise was no longer asked for; its larger copy was deleted",
} as const;

export type WaitReason = keyof typeof waitReasons;
export type ActionCause = keyof typeof actionCauses;
export type ShrinkHoldReason = Exclude<keyof typeof shrinkReasons, "ShrinkDue">;
export type RaiseReason = keyof typeof raiseReasons;
export type HoldReason = keyof typeof holdReasons;
export type Reason = RaiseReason | HoldReason;
