// The narrow waist of the server: one request, one answer, the same shape whether it came by HTTP or in memory (it is the
// transport of @memhog/runtime, seen from the other side). Faults are middleware around it: they see all traffic.
import type { TransportRequest, TransportResponse } from "@memhog/runtime";

export type ApiRequest = TransportRequest;
export type ApiResponse = TransportResponse;

export type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Wraps the handler: may delay, spoil or answer in its place. */
export type Middleware = (next: Handler) => Handler;
