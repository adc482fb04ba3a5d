// The public API: for running the operator inside another program, such as the demo or the benchmark.
export { AppMemory } from "./api/app-memory.ts";
export { AppMonitor } from "./api/app-monitor.ts";
export { program } from "./cli/commands.ts";
export { intervalMsOf } from "./cli/flags.ts";
export type { Pass } from "./controllers/apps.ts";
export { serveDashboard } from "./dashboard/dashboard.ts";
export { dashboardState, History } from "./dashboard/history.ts";
export { type MemhogOptions, memhogKinds, memhogOperator } from "./memhog.ts";
export { httpTransport } from "./observe/prometheus/http-transport.ts";
export { overTransport, type PrometheusTransport } from "./observe/prometheus/transport.ts";
