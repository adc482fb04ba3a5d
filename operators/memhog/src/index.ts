// The door for the demo, the bench and whoever wants the operator inside another program.
export { AppMemory } from "./api/app-memory.ts";
export { AppMonitor } from "./api/app-monitor.ts";
export { intervalMsOf, memhogFlags } from "./cli/flags.ts";
export { type MemhogOptions, memhogKinds, memhogOperator } from "./memhog.ts";
export { httpTransport } from "./observe/prometheus/http-transport.ts";
export { overTransport, type PrometheusTransport } from "./observe/prometheus/transport.ts";
export { History } from "./page/history.ts";
export { pageState } from "./page/page-state.ts";
export { servePage } from "./page/serve-page.ts";
export type { Pass } from "./reconcile.ts";
