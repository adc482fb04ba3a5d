// localcluster: a real Kubernetes on this machine, for tests and for people. The README says how to use it.
//
//   start.ts        startCluster(): puts everything below together
//   cluster.ts      the Cluster that it gives; access.ts is what can be done with any cluster one can reach
//   control-plane/  etcd, API server, controllers, certificates
//   node/           a real node in a sandbox of namespaces; images/ for it; prometheus/ beside it
//   process/        start, watch and end programs; state/ what a cluster leaves on disk, and how that is removed
//   binaries/       where the programs come from
export type { ListOptions } from "./access.ts";
export type { RequestOptions } from "./api/client.ts";
export type { EventuallyOptions } from "./api/eventually.ts";
export type { KubernetesObject, Metadata, Reference } from "./api/objects.ts";
export type { Cluster } from "./cluster.ts";
export type { Controller } from "./control-plane/control-plane.ts";
export * from "./errors.ts";
export { buildImage, type ImageSpec } from "./images/image.ts";
export { type PackageImageSpec, packageImage } from "./images/package.ts";
export { busyboxImage, nodeImage, programImage } from "./images/programs.ts";
export type { StartOptions } from "./options.ts";
export { type Progress, progressOn, silent } from "./progress.ts";
export { startCluster } from "./start.ts";
export { defaultVersion, type KubernetesVersion, supportedVersions } from "./versions.ts";
