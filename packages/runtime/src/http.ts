// @memhog/runtime/http: request validation and connection limits for programs with their own HTTP server.
export { arrivalLimits, Connections, secureArrivalLimits } from "./http/connections.ts";
export {
  HttpStatusError,
  isAllowedHost,
  parseTarget,
  readBody,
} from "./http/requests.ts";
export { type Endpoint, listenAt, type Reply, type Route } from "./operator/endpoints.ts";
