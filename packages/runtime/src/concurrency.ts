// @memhog/runtime/concurrency: clock, random numbers and cancellation, which are always passed in.
export { abortable, anySignal, DeadlineExceededError, timeoutSignal } from "./concurrency/abort.ts";
export { Backoff, type BackoffOptions } from "./concurrency/backoff.ts";
export { type Cancel, type Clock, type Environment, type Logger, silentLogger } from "./concurrency/environment.ts";
export { systemEnvironment } from "./concurrency/system-environment.ts";
