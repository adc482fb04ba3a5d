// What is told in Events. Like the reasons of decisions these words are public API: people write alerts on them. docs/reference is
// made from this file.
export const eventReasons = {
  MemoryRaised: "a container has more memory now, confirmed by the kubelet",
  PodReplaced: "a bare pod was replaced by its bigger copy",
  RaiseCapped: "a container gets less than was wanted; the note names the cap",
  RaiseDeferred: "a raise waits for room on the node",
  RaiseInfeasible: "a raise does not fit the node and never will",
  RaiseRefused: "the API server refused a raise; the note says why",
  RaiseAbandoned: "a raise was given up: what it was about is gone",
  RaiseRecommended: "the strategy is Recommend: this would be done",
  ReplacementNotReady: "what should replace a pod did not become Ready; the pod stays",
  OutOfMemoryKilled: "a container was killed for lack of memory",
  LeakSuspected: "a pod was raised too often and is left alone",
  RaisesFutile: "a container is killed again and again in spite of raises, and is left alone",
  Contested: "somebody takes back the memory that was given; the app is left alone",
  AmbiguousMonitor: "several AppMonitors select the pod; none acts",
  AtCeiling: "a container needs more than a cap allows",
  AnotherAutoscaler: "another autoscaler is in charge of this memory",
  InPlaceImpossible: "the strategy is InPlace, and the pod cannot be resized in place",
  OwnerNotEditable: "the pod cannot be resized in place, and its owner is never edited",
  WouldCauseDowntime: "a redeployment would remove every Ready pod before a new one is Ready; the note says what to do",
  CircuitOpen: "what was done last made things worse; nothing more is done for a while",
} as const;

export type EventReason = keyof typeof eventReasons;
