// Spoils the traffic of a simulator by plan. It is middleware around the API server, so it meets every client, by HTTP or in
// memory; what it does is decided by a pure plan (fault.ts), so a run with faults repeats itself like any other.
//
//     const faults = makeFaults({ clock, plan: randomFaults(seededRandom(7), { lose: 0.05, delay: 0.2 }) });
//     await using simulator = await startSimulator({ environment, middleware: [faults.middleware] });
//     faults.restart(seconds(5));   // the API server goes, with every watch, and comes back
import { type Clock, TransportError } from "@memhog/runtime";
import type { ApiRequest, ApiResponse, Handler, Middleware } from "../server/handler.ts";
import { type Fault, type FaultPlan, type FaultyRequest, noFaults } from "./fault.ts";
import { broken, brokenBy, spoiled } from "./spoiled-watch.ts";
import { RecentVersions, readAt } from "./stale.ts";

export interface FaultsOptions {
  readonly clock: Clock;
  /** @default no faults */
  readonly plan?: FaultPlan;
}

export interface Faults {
  readonly middleware: Middleware;
  /** Decides about each request; may be changed at any time. */
  plan: FaultPlan;
  /** The API server goes: watches break, requests are refused; after so many milliseconds it answers again. */
  restart(downMs: number): void;
  /** How many requests were spoiled. */
  readonly count: number;
}

export function makeFaults({ clock, plan = noFaults }: FaultsOptions): Faults {
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
    return typeof response.body === "string" ? response : { ...response, body: brokenBy(spoiled(response.body, fault), alive) };
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
  readonly fault: Fault | undefined;
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
  return new TransportError(`${method} ${path}: ${why} (a fault of the plan)`, { outcome: "not-sent" });
}

function instead({ status, reason = "", retryAfterSeconds }: Extract<Fault, { kind: "answer" }>): ApiResponse {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code: status, ...details };
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  const message = "a fault of the plan";
  return { status, headers: { "content-type": "application/json", ...retry }, body: JSON.stringify({ ...body, message }) };
}

function described({ method, path, query = {}, headers = {}, stream }: ApiRequest, number: number): FaultyRequest {
  const watch = stream === true || query.watch === true || query.watch === "true" || query.watch === "1";
  return { number, method, path, query, watch, userAgent: (headers["user-agent"] ?? "").toLowerCase() };
}
