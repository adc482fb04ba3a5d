// @memhog/runtime/kinds: the built-in kinds.
export * from "./objects/kinds/access.ts";
export type * from "./objects/kinds/container.ts";
export * from "./objects/kinds/core.ts";
export * from "./objects/kinds/extension.ts";
export * from "./objects/kinds/kind.ts";
export * from "./objects/kinds/network.ts";
export * from "./objects/kinds/pod.ts";
export * from "./objects/kinds/scaling.ts";
export * from "./objects/kinds/storage.ts";
export * from "./objects/kinds/workloads.ts";
