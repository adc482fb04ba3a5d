// How fast we may call. Two lanes, each with its own bucket: a burst of reconciles must never keep a Lease from being
// renewed, because losing it stops everything (promise A2). A busy server (429) closes the lane it answered on for as
// long as it asked.
import type { Clock, Environment } from "../concurrency/environment.ts";
import { TokenBucket } from "../concurrency/token-bucket.ts";
import type { Call } from "./call.ts";
import type { Observer } from "./observer.ts";

export interface RateLimit {
  /** Calls per second in the long run. */
  readonly qps: number;
  /** Calls that may come at once. */
  readonly burst: number;
}

interface Lane {
  /** Resolves when the call may go out. */
  take(signal: AbortSignal): Promise<void>;
  /** Nothing goes out for this long. */
  pause(milliseconds: number): void;
}

export interface Lanes {
  of(call: Pick<Call, "request" | "options">): Lane;
}

export interface LaneOptions {
  readonly environment: Environment;
  readonly rateLimit?: RateLimit | undefined;
  readonly highPriorityRateLimit?: RateLimit | undefined;
  readonly observer: Observer;
}

export function makeLanes({ environment: { clock }, rateLimit, highPriorityRateLimit, observer }: LaneOptions): Lanes {
  const normal = makeLane("normal", rateLimit ?? { qps: 20, burst: 30 }, clock, observer);
  const high = makeLane("high", highPriorityRateLimit ?? { qps: 10, burst: 20 }, clock, observer);
  return {
    of: ({ request, options }) =>
      options.priority === "high" || request.path.startsWith("/apis/coordination.k8s.io/") ? high : normal,
  };
}

function makeLane(name: string, { qps, burst }: RateLimit, clock: Clock, observer: Observer): Lane {
  const bucket = new TokenBucket({ clock, perSecond: qps, burst });
  return {
    take: async (signal) => {
      if (bucket.tryTake()) return;
      const since = clock.monotonic();
      await bucket.take(signal);
      observer.throttled?.({ lane: name, waitedMs: clock.monotonic() - since });
    },
    pause: (milliseconds) => bucket.pauseUntil(clock.monotonic() + milliseconds),
  };
}
