// Why we act and why we hold. These words are public API: they appear in conditions, Events, metrics, logs and `explain`, and
// people write alerts on them. Each has a sentence; docs/reference is made from this file.

/** A container gets more memory because … */
export const raiseReasons = {
  ThresholdCrossed: "usage ÷ limit has reached memThresholdPercent",
  WillRunOut: "the trend of the last samples reaches the limit within lookaheadSeconds",
  OutOfMemory: "the container was killed for lack of memory",
  LearnedBefore: "the app is known to need more than this new pod was given",
} as const;

/** A container keeps what it has because … */
export const holdReasons = {
  BelowThreshold: "usage ÷ limit is below memThresholdPercent, and the trend does not reach the limit soon",
  NotMonitored: 'the pod does not have the annotation app-monitor.kubedemo.com/monitor: "true"',
  NoMonitor: "no AppMonitor in the namespace selects the pod",
  AmbiguousMonitor: "several AppMonitors select the pod; none acts until only one does",
  Paused: "the AppMonitor is paused",
  NoLimit: "the container has no memory limit, so there is nothing to compare its usage with",
  NotRunning: "the container is not running",
  Terminating: "the pod is being deleted",
  NoSample: "there is no sample of the container's memory yet",
  SampleStale: "the newest sample is too old to decide anything",
  MetricsUnavailable: "Prometheus does not answer",
  ResizeInProgress: "the last raise is not applied yet",
  ResizeDeferred: "the node has no room for the last raise now; the kubelet tries again",
  CoolingDown: "the last raise was less than cooldownSeconds ago",
  AtCeiling: "a cap leaves no more memory to give",
  SuspectedLeak: "more raises than maxRaisesPerHour: more memory only hides a leak",
  RaisesFutile: "the container was killed again and again in spite of raises",
  Contested: "somebody takes back what we give",
  AnotherAutoscaler: "another autoscaler is in charge of this memory",
  RecommendOnly: "the strategy is Recommend: what would be done is reported, nothing is touched",
  InPlaceImpossible: "the strategy is InPlace, and this pod cannot be resized in place",
  OwnerNotEditable: "the pod cannot be resized in place, and its owner is of a kind that is never edited",
  WouldCauseDowntime:
    "a redeployment would remove every Ready pod before a new one is Ready: it needs a replica more, a rollout that surges, or strategy Auto",
  ReplacementNotReady: "the bigger copy does not become Ready; the original stays",
  RolloutInProgress: "the owner is rolling out",
  Busy: "enough is being changed at the same time; this one is next",
  CircuitOpen: "what was done last made things worse; nothing more until it is better",
  Refused: "the API server refused the last attempt; nothing more until something changes",
} as const;

export type RaiseReason = keyof typeof raiseReasons;
export type HoldReason = keyof typeof holdReasons;
export type Reason = RaiseReason | HoldReason;
