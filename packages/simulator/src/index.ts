// A Kubernetes cluster in one process (see README.md).
//
//   storage/           all objects, one version counter, recent history
//   kinds/             the table of built-in kinds: names, defaults, validation, columns
//   server/            the API server: verbs, subresources, watches, discovery, errors; by HTTP and in memory
//   patch/             JSON, merge, strategic-merge and server-side-apply patches, managed fields
//   custom-resources/  CustomResourceDefinitions become entries in the table of kinds
//   admission/         LimitRange, ResourceQuota, resize rules, webhooks
//   openapi/           /openapi, which kubectl reads
//   controllers/, nodes/, prometheus/   the components of a full cluster
//   faults/            fault injection
export type { Admission, AdmissionRequest, UserInfo } from "./server/admission.ts";
export type { Connect, ConnectCall, Route, ServerCore, ApiRequest, ApiResponse, Handler, Middleware } from "./server/core.ts";
export { accelerated, type FullCluster, fullCluster, type FullClusterOptions } from "./full-cluster.ts";
export { type Simulator, type SimulatorOptions, type Component, startSimulator } from "./simulator.ts";
export type { Storage } from "./storage/storage.ts";
export {
  type Fault,
  type InjectFaultsOptions,
  injectFaults,
  type RandomFaultsOptions,
  randomFaults,
  type CrashingTransport,
  type CrashOptions,
  crashAt,
} from "./faults/cluster-faults.ts";
export {
  type TrafficFault,
  type TrafficFaultPlan,
  type TrafficFaultShares,
  type FaultyRequest,
  randomTrafficFaults,
  type TrafficFaults,
  type TrafficFaultsOptions,
  makeTrafficFaults,
} from "./faults/traffic-faults.ts";
export { type ServerJournal, serverJournal } from "./faults/journal.ts";
export {
  startHollowNodes,
  type HollowNodes,
  type JoinOptions,
  joinHollowNodes,
  type HollowNodesOptions,
} from "./nodes/hollow-nodes.ts";
export { corruptSamples, type PrometheusFaults, type RequestFault, composeFaults } from "./prometheus/faults.ts";
export { prometheus, type PrometheusComponent, type PrometheusComponentOptions } from "./prometheus/prometheus.ts";
