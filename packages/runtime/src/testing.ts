// @memhog/runtime/testing: for tests only. A manual clock, seeded random numbers, builders of objects, a journal of API requests, fault
// injection, and `eventually`.
export {
  type CallFault,
  describeCall,
  Journal,
  type JournalEntry,
  type JournalEvent,
  type JournalOptions,
} from "./client/journal.ts";
export {
  type ManualClock,
  type ManualClockOptions,
  manualClock,
  manualEnvironment,
  seededRandom,
} from "./concurrency/manual-clock.ts";
export { type Audited, type AuditOptions, auditOf } from "./testing/audit.ts";
export { aDeployment, aNode, anObject, aPod, type DeepPartial } from "./testing/builders.ts";
export { type JournaledClientOptions, journaledClient, type Reachable } from "./testing/cluster-world.ts";
export { type EventuallyOptions, EventuallyTimeoutError, eventually } from "./testing/eventually.ts";
export { type Fault, type FaultPlan, type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./testing/fault-proxy.ts";
export { freePort, startTcpProxy, type TcpProxy } from "./testing/loopback.ts";
export {
  killAtEveryWrite,
  type Moment,
  moments,
  type OperatorUnderTest,
  outputOf,
  type StartOperatorOptions,
  startOperator,
} from "./testing/start-operator.ts";
export { type Reviewer, reviewersOf } from "./webhook/request-handler.ts";
