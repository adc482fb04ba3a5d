// The bad days of a cluster, as values. A plan decides about each request; faults.ts carries it out.
import type { ApiRequest } from "../server/handler.ts";

/** What a fault is decided by. */
export interface FaultyRequest {
  /** 1 for the first that the faults saw. */
  readonly number: number;
  readonly method: ApiRequest["method"];
  readonly path: string;
  readonly query: NonNullable<ApiRequest["query"]>;
  readonly watch: boolean;
  /** Lower-case, as clients introduce themselves: faults may have their favourites. */
  readonly userAgent: string;
}

/** What happens to a request. */
export type Fault =
  /** It arrives late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The connection breaks before the server sees anything. */
  | { readonly kind: "reset" }
  /** The server acts; the answer is lost. */
  | { readonly kind: "lose" }
  /** Somebody else answers: 429, 500, 503. */
  | { readonly kind: "answer"; readonly status: number; readonly reason?: string; readonly retryAfterSeconds?: number }
  /** A read shows the world as it was some writes ago. @see stale.ts */
  | { readonly kind: "stale"; readonly writesAgo: number }
  /** Every event of a watch comes twice. */
  | { readonly kind: "duplicate" }
  /** Of a watch, every so-manieth event never comes. */
  | { readonly kind: "miss"; readonly every: number }
  /** Of a watch, only so many events; then it ends like this. */
  | { readonly kind: "end"; readonly afterEvents: number; readonly how: "reset" | "close" | "expire" };

export type FaultPlan = (request: FaultyRequest) => Fault | undefined;

export const noFaults: FaultPlan = () => undefined;

/** A share of each kind of fault, 0 to 1; together at most 1. */
export interface FaultShares {
  readonly delay?: number;
  readonly reset?: number;
  readonly lose?: number;
  readonly busy?: number;
  readonly stale?: number;
  readonly duplicate?: number;
  readonly end?: number;
}

/** Faults by chance, which the seed of `random` decides: the same seed, the same bad days. */
export function randomFaults(random: () => number, shares: FaultShares): FaultPlan {
  const kinds = Object.entries(shares) as [keyof FaultShares, number][];
  return (request) => {
    // One number says whether, one says how much: always two, so that a plan does not shift when a share changes.
    let left = random();
    const amount = random();
    const [kind] = kinds.find(([, share]) => {
      left -= share;
      return left < 0;
    }) ?? [undefined];
    return kind === undefined ? undefined : faultOf(kind, amount, request);
  };
}

function faultOf(kind: keyof FaultShares, amount: number, { watch, method }: FaultyRequest): Fault | undefined {
  switch (kind) {
    case "delay":
      return { kind, ms: Math.floor(amount * 5_000) };
    case "reset":
    case "lose":
      return { kind };
    case "busy":
      return { kind: "answer", status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 };
    case "stale":
      return watch || method !== "GET" ? undefined : { kind, writesAgo: 1 + Math.floor(amount * 5) };
    case "duplicate":
      return watch ? { kind } : undefined;
    case "end":
      return watch ? { kind, afterEvents: Math.floor(amount * 10), how: amount < 0.5 ? "reset" : "expire" } : undefined;
  }
}
