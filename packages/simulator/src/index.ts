// A Kubernetes in one process. The README says what it is for; this is its door and its map.
//
//   storage/           every object, one version for everything, the recent past
//   kinds/             the table of built-in kinds: names, defaults, validation, columns
//   server/            the API server: verbs, subresources, watches, discovery, errors; by HTTP and in memory
//   patch/             JSON, merge, strategic-merge and server-side-apply patches, managed fields
//   custom-resources/  a CustomResourceDefinition becomes a row of the table of kinds
//   admission/         LimitRange, ResourceQuota, resize rules, webhooks
//   openapi/           the schemas that kubectl asks for
//   controllers/, nodes/, prometheus/   what makes it a cluster
//   faults/            bad days, by plan
export type { Admission, AdmissionRequest, UserInfo } from "./server/admission.ts";
export type { Connect, ConnectCall, Route, ServerCore } from "./server/core.ts";
export type { ApiRequest, ApiResponse, Handler, Middleware } from "./server/handler.ts";
export { accelerated } from "./accelerated.ts";
export { type Simulator, type SimulatorOptions, type SimulatorPart, startSimulator } from "./simulator.ts";
export type { Storage } from "./storage/storage.ts";
export { type BadDay, type BadDaysOptions, letHappen, type RandomDays, randomDays } from "./faults/bad-days.ts";
export { type CrashingTransport, type CrashOptions, crashAt } from "./faults/crash.ts";
export { type Fault, type FaultPlan, type FaultShares, type FaultyRequest, randomFaults } from "./faults/fault.ts";
export { type Faults, type FaultsOptions, makeFaults } from "./faults/faults.ts";
export { type ServerJournal, serverJournal } from "./faults/journal.ts";
export { startHollowNodes, type HollowNodes } from "./nodes/hollow-nodes.ts";
export { type JoinOptions, joinHollowNodes } from "./nodes/join.ts";
export type { HollowNodesOptions } from "./nodes/options.ts";
export { lies, type PrometheusFaults, type RequestFault, together } from "./prometheus/faults.ts";
export { prometheus, type PrometheusPart, type PrometheusPartOptions } from "./prometheus/part.ts";
export { type WholeCluster, wholeCluster, type WholeClusterOptions } from "./whole-cluster.ts";
