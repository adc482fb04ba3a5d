// @memhog/runtime/cache: objects of the API server, kept up to date in memory.
export { type Cache, type CacheOptions, type CacheStatus, SharedCaches } from "./cache/cache.ts";
export { leanMetadata, metadataOnly, type View, type ViewOf, view, withoutManagedFields } from "./cache/projection.ts";
export { type Change, type Index, indexBy } from "./cache/store.ts";
