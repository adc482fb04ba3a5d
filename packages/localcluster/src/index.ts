// localcluster: a real Kubernetes on this machine, for tests and for interactive use. See README.md.
//
//   start.ts        startCluster()
//   cluster.ts      the Cluster that it returns
//   control-plane/  etcd, API server, controllers, certificates
//   node/           a real node in a sandbox of Linux namespaces, and Prometheus; images/ builds container images
//   process/        starts, watches and stops programs; state/ the files of a cluster, and removing it
//   binaries/       finds, downloads or builds the programs
//   api/            a minimal client of the API server; cli/ the command line
export type { RequestOptions } from "./api/client.ts";
export type { EventuallyOptions } from "./api/eventually.ts";
export type { KubernetesObject, Metadata, Reference } from "./api/objects.ts";
export type { Cluster, ListOptions } from "./cluster.ts";
export type { Controller } from "./control-plane/control-plane.ts";
export * from "./errors.ts";
export { buildImage, type ImageSpec } from "./images/image.ts";
export { busyboxImage, nodeImage, type PackageImageSpec, packageImage, programImage } from "./images/programs.ts";
export type { StartOptions } from "./options.ts";
export { type Progress, progressOn, silent } from "./progress.ts";
export { startCluster } from "./start.ts";
export { defaultVersion, type KubernetesVersion, supportedVersions } from "./versions.ts";
