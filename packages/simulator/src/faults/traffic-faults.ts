// Faults of requests. A plan decides about each request; middleware around the API server applies it.

import { TransportError } from "@memhog/runtime/client";
import type { Clock } from "@memhog/runtime/concurrency";
import type { ApiRequest, ApiResponse, Handler, Middleware } from "../server/core.ts";
import { broken, RecentVersions, readAt, spoiled, untilAborted } from "./watch-faults.ts";

/** The properties of a request that a plan can use. */
export interface FaultyRequest {
  /** 1 for the first request. */
  readonly number: number;
  readonly method: ApiRequest["method"];
  readonly path: string;
  readonly query: NonNullable<ApiRequest["query"]>;
  readonly watch: boolean;
  /** The User-Agent in lower case, so that a plan can select clients. */
  readonly userAgent: string;
}

/** What happens to a request. */
export type TrafficFault =
  /** The request arrives late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The connection breaks before the server receives the request. */
  | { readonly kind: "reset" }
  /** The server executes the request; the response is lost. */
  | { readonly kind: "lose" }
  /** The client gets this response instead: 429, 500, 503. */
  | { readonly kind: "answer"; readonly status: number; readonly reason?: string; readonly retryAfterSeconds?: number }
  /** A read returns the state of some writes ago. See watch-faults.ts. */
  | { readonly kind: "stale"; readonly writesAgo: number }
  /** A watch sends every event twice. */
  | { readonly kind: "duplicate" }
  /** A watch skips every nth event. */
  | { readonly kind: "miss"; readonly every: number }
  /** A watch sends this many events and then ends like this. */
  | { readonly kind: "end"; readonly afterEvents: number; readonly how: "reset" | "close" | "expire" };

export type TrafficFaultPlan = (request: FaultyRequest) => TrafficFault | undefined;

const noTrafficFaults: TrafficFaultPlan = () => undefined;

/** The probability of each kind of fault, 0 to 1; their sum is at most 1. */
export interface TrafficFaultShares {
  readonly delay?: number;
  readonly reset?: number;
  readonly lose?: number;
  readonly busy?: number;
  readonly stale?: number;
  readonly duplicate?: number;
  readonly end?: number;
}

/** Random faults of requests; the same seed of `random` gives the same faults. */
export function randomTrafficFaults(random: () => number, shares: TrafficFaultShares): TrafficFaultPlan {
  const kinds = Object.entries(shares) as [keyof TrafficFaultShares, number][];
  return (request) => {
    // Always draws two numbers (whether, and how much), so that changing a probability does not shift the rest of the plan.
    let left = random();
    const amount = random();
    const [kind] = kinds.find(([, share]) => {
      left -= share;
      return left < 0;
    }) ?? [undefined];
    return kind === undefined ? undefined : faultOf(kind, amount, request);
  };
}

function faultOf(kind: keyof TrafficFaultShares, amount: number, { watch, method }: FaultyRequest): TrafficFault | undefined {
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

// Middleware that applies faults to all clients, over HTTP or in memory. The plan is a pure function, so a run with faults is
// repeatable.
//
//     const faults = makeTrafficFaults({ clock, plan: randomTrafficFaults(seededRandom(7), { lose: 0.05, delay: 0.2 }) });
//     await using simulator = await startSimulator({ environment, middleware: [faults.middleware] });
//     faults.restart(seconds(5));   // stops the API server with all watches, and starts it again

export interface TrafficFaultsOptions {
  readonly clock: Clock;
  /** @default no faults */
  readonly plan?: TrafficFaultPlan;
}

export interface TrafficFaults {
  readonly middleware: Middleware;
  /** Decides about each request; can be replaced at any time. */
  plan: TrafficFaultPlan;
  /** Restarts the API server: watches break and requests are refused for this many milliseconds. */
  restart(downMs: number): void;
  /** The number of requests that a fault changed. */
  readonly count: number;
}

export function makeTrafficFaults({ clock, plan = noTrafficFaults }: TrafficFaultsOptions): TrafficFaults {
  let requests = 0;
  let spoils = 0;
  let up = true;
  let process = new AbortController();
  const versions = new RecentVersions();
  const answer = async (request: ApiRequest, next: Handler): Promise<ApiResponse> => {
    requests += 1;
    if (!up) throw notSent(request, "the server is down");
    const fault = faults.plan(described(request, requests));
    if (fault !== undefined) spoils += 1;
    const alive = process.signal;
    const response = await carriedOut({ fault, request, next, clock, versions });
    versions.note(request, response);
    return typeof response.body === "string"
      ? response
      : { ...response, body: untilAborted(spoiled(response.body, fault), alive) };
  };
  const faults = {
    middleware: (next: Handler) => (request: ApiRequest) => answer(request, next),
    plan,
    restart: (downMs: number) => {
      up = false;
      process.abort();
      process = new AbortController();
      clock.after(downMs, () => {
        up = true;
      });
    },
    get count() {
      return spoils;
    },
  };
  return faults;
}

interface Spoiling {
  readonly fault: TrafficFault | undefined;
  readonly request: ApiRequest;
  readonly next: Handler;
  readonly clock: Clock;
  readonly versions: RecentVersions;
}

async function carriedOut({ fault, request, next, clock, versions }: Spoiling): Promise<ApiResponse> {
  if (fault?.kind === "reset") throw notSent(request, "the connection was reset");
  if (fault?.kind === "answer") return instead(fault);
  if (fault?.kind === "delay") await clock.sleep(fault.ms, request.signal);
  const past = fault?.kind === "stale" ? versions.ago(fault.writesAgo) : undefined;
  if (past !== undefined) return readAt(past, request, next);
  const response = await next(request);
  if (fault?.kind === "lose") throw broken(`${request.method} ${request.path}: the answer was lost`);
  return response;
}

function notSent({ method, path }: ApiRequest, why: string): TransportError {
  return new TransportError(`${method} ${path}: ${why} (injected fault)`, { outcome: "not-sent" });
}

function instead({ status, reason = "", retryAfterSeconds }: Extract<TrafficFault, { kind: "answer" }>): ApiResponse {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code: status, ...details };
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  const message = "injected fault";
  return { status, headers: { "content-type": "application/json", ...retry }, body: JSON.stringify({ ...body, message }) };
}

function described({ method, path, query = {}, headers = {}, stream }: ApiRequest, number: number): FaultyRequest {
  const watch = stream === true || query.watch === true || query.watch === "true" || query.watch === "1";
  return { number, method, path, query, watch, userAgent: (headers["user-agent"] ?? "").toLowerCase() };
}
