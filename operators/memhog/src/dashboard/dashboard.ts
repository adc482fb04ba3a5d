// Serves the dashboard: three static files and a read-only JSON endpoint. The page loads nothing from other origins, and other sites
// cannot frame it or read from it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Runnable } from "@memhog/runtime";
import type { Clock } from "@memhog/runtime/concurrency";
import { isAllowedHost, listenAt, type Route } from "@memhog/runtime/http";
import { parseAddress } from "@memhog/runtime/operator";
import type { ObservedMetrics } from "../model/observed-app.ts";
import { AppMonitorView } from "../observe/kinds.ts";
import type { History } from "./history.ts";
import { type DashboardState, dashboardState } from "./history.ts";

export interface DashboardServer extends AsyncDisposable {
  readonly port: number;
}

export interface DashboardServerOptions {
  /** ":8082" or "127.0.0.1:8082"; port 0 selects a free port. */
  readonly address: string;
  /** The state to show, with the points after this time. */
  readonly state: (sinceMs: number) => DashboardState;
  readonly clock: Clock;
  /** Accepted host names besides localhost and IP addresses. @default none */
  readonly allowedHosts?: readonly string[];
  /** Called when a request fails. */
  readonly onError?: (error: unknown, path: string) => void;
}

const files = {
  "/": ["dashboard.html", "text/html"],
  "/dashboard.css": ["dashboard.css", "text/css"],
  "/dashboard.js": ["dashboard.js", "text/javascript"],
} as const;

const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
};

export async function serveDashboard(options: DashboardServerOptions): Promise<DashboardServer> {
  const { address, state, clock, allowedHosts = [], onError = () => {} } = options;
  const { host } = parseAddress(address);
  const named = [...allowedHosts, ...(host === undefined ? [] : [host])];
  const routes: Record<string, Route> = {};
  for (const [path, [file, type]] of Object.entries(files)) {
    const body = await readFile(join(import.meta.dirname, "assets", file));
    routes[path] = forHosts(named, () => ({ type: `${type}; charset=utf-8`, headers, body }));
  }
  routes["/api/state"] = forHosts(named, (url) => {
    const sinceMs = Number(url.searchParams.get("since") ?? 0) || 0;
    return { type: "application/json; charset=utf-8", headers, body: jsonPieces(state(sinceMs), clock) };
  });
  const endpoint = await listenAt(address, routes, { onError });
  if (endpoint === undefined) throw new TypeError('expected an address to serve the dashboard at, found "0"');
  return { port: endpoint.port, [Symbol.asyncDispose]: () => endpoint.close() };
}

/** Prevents DNS rebinding: rejects requests whose Host header is not an expected one. */
function forHosts(names: readonly string[], route: Route): Route {
  return (url, request) => {
    if (isAllowedHost(request.headers.host, names)) return route(url, request);
    const body = "expected localhost, an IP address or a name given by --dashboard-allowed-host in the Host header\n";
    return { status: 403, headers, body };
  };
}

/** Apps serialized per turn of the event loop: 25 take about 5 ms, 500 would block it for 100 ms. */
const appsInOneTurn = 25;

async function* jsonPieces({ apps, ...rest }: DashboardState, clock: Clock): AsyncGenerator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"apps":[`;
  for (const [at, app] of apps.entries()) {
    if (at > 0 && at % appsInOneTurn === 0) await clock.sleep(0);
    yield `${at === 0 ? "" : ","}${JSON.stringify(app)}`;
  }
  yield "]}";
}

export interface DashboardRunnableOptions {
  /** ":8082" or "127.0.0.1:8082"; port 0 selects a free port. */
  readonly address: string;
  /** Accepted host names besides localhost and IP addresses. */
  readonly allowedHosts: readonly string[];
  readonly history: History;
  readonly metrics: () => ObservedMetrics;
  /** The number of running pods without samples. */
  readonly unseenPods: () => number;
  /** Called with the port once the dashboard listens. */
  readonly onDashboard?: (port: number) => void;
}

/** Runs only while this replica leads, because only the leader has a history to show. */
export function dashboardRunnable({
  address,
  allowedHosts,
  history,
  metrics,
  unseenPods,
  onDashboard = () => {},
}: DashboardRunnableOptions): Runnable {
  return {
    name: "dashboard",
    start: async ({ cached, environment, log, signal }) => {
      const state = (sinceMs: number) =>
        dashboardState(
          {
            nowMs: environment.clock.now(),
            metrics: metrics(),
            unseenPods: unseenPods(),
            apps: history.apps(),
            monitors: cached.list(AppMonitorView),
          },
          sinceMs,
        );
      const onError = (err: unknown, path: string) => log.error({ err, path }, "dashboard request failed");
      await using server = await serveDashboard({ address, allowedHosts, state, clock: environment.clock, onError });
      log.info({ port: server.port }, "serving the dashboard");
      onDashboard(server.port);
      if (signal.aborted) return;
      await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
    },
  };
}
