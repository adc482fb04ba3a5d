// The second door: what tests of operators and of the runtime itself need, and production code does not. Time that a
// test moves by hand, chance that repeats, objects with good defaults, and waiting for the state of the world.
export type { ManualClock, ManualClockOptions } from "./concurrency/manual-clock.ts";
export { manualClock, manualEnvironment, seededRandom } from "./concurrency/manual-clock.ts";
export type { EventuallyOptions } from "./testing/eventually.ts";
export { eventually, NeverHeldError } from "./testing/eventually.ts";
