// @memhog/runtime/client: requests to the API server.
export type * from "./client/client.ts";
export { loadConfig } from "./client/config/load.ts";
export { type ClientOptions, type CreateClientOptions, createClient } from "./client/create-client.ts";
export type { Discovery, ServerVersion } from "./client/discovery.ts";
export * from "./client/errors.ts";
export type { Transport, TransportRequest, TransportResponse } from "./client/transport/transport.ts";
export { evict, type RetryOnConflictOptions, retryOnConflict } from "./client/verbs.ts";
