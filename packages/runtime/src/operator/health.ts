// What probes are told. Alive: the process answers, so its event loop turns. Ready: every check holds; a cache that is not
// synced makes us not ready, and nothing is decided in that time either. A replica that waits for the lease is ready.
import type { Reply, Route } from "./endpoints.ts";

/** True, or what is missing. */
export type HealthCheck = () => true | string;

/** "ok", or 500 and a line per check, like the API server's own. `?verbose` shows the lines either way. */
export function healthRoute(checks: Readonly<Record<string, HealthCheck>>): Route {
  return (url): Reply => {
    const results = Object.entries(checks).map(([name, check]) => ({ name, result: attempt(check) }));
    const ok = results.every(({ result }) => result === true);
    if (ok && !url.searchParams.has("verbose")) return { body: "ok" };
    const lines = results.map(({ name, result }) => (result === true ? `[+]${name} ok` : `[-]${name}: ${result}`));
    return { status: ok ? 200 : 500, body: `${lines.join("\n")}\n` };
  };
}

function attempt(check: HealthCheck): true | string {
  try {
    return check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
