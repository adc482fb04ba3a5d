// The second door: what tests of operators and of the runtime itself need, and production code does not. Time that a
// test moves by hand, chance that repeats, objects with good defaults, a record of every API call, and waiting for the
// state of the world.
export type { CallFault, JournalEntry, JournalEvent, JournalOptions } from "./client/journal.ts";
export { describeCall, Journal } from "./client/journal.ts";
export type { ManualClock, ManualClockOptions } from "./concurrency/manual-clock.ts";
export { manualClock, manualEnvironment, seededRandom } from "./concurrency/manual-clock.ts";
export { type Audited, type AuditOptions, auditOf } from "./testing/audit.ts";
export type { DeepPartial } from "./testing/builders.ts";
export { aDeployment, aNode, anObject, aPod } from "./testing/builders.ts";
export type { EventuallyOptions } from "./testing/eventually.ts";
export { eventually, NeverHeldError } from "./testing/eventually.ts";
export type { Fault, FaultPlan } from "./testing/fault.ts";
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./testing/fault-proxy.ts";
export { freePort } from "./testing/free-port.ts";
export { type JournaledClientOptions, journaledClient, type Reachable } from "./testing/journaled-client.ts";
export {
  killAtEveryWrite,
  type Moment,
  moments,
  type OperatorUnderTest,
  type StartOperatorOptions,
  startOperator,
} from "./testing/start-operator.ts";
export { startTcpProxy, type TcpProxy } from "./testing/tcp-proxy.ts";
