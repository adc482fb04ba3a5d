// All errors of the client. The class tells the caller how to react, the stable `code` is for logs and metrics, and the message says
// what was attempted, what the result was and what to do.
//
//     ClientError
//     ├─ ConfigError           the kubeconfig or service account is invalid; nothing was sent
//     ├─ ApiError              the server rejected the request
//     │  ├─ UnauthorizedError  ForbiddenError  NotFoundError  ConflictError  AlreadyExistsError  InvalidError
//     │  └─ ExpiredError  TooManyRequestsError  InternalError  UnavailableError  ServerTimeoutError
//     ├─ AnswerError           the response does not come from a Kubernetes API server
//     └─ TransportError        there was no response; a write may still be committed (`outcome`)
//        ├─ TimeoutError       no response before the caller's deadline
//        ├─ BrokenStreamError  a watch ended in the middle of an event
//        └─ IdleWatchError     a watch received no data for too long
//
// No message contains credentials: this code never receives any.

import { oneLine } from "../objects/untrusted-text.ts";

/** The base class of all errors that the client throws on purpose. */
export abstract class ClientError extends Error {
  /** Stable: safe to compare, log and count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The connection configuration is missing or invalid. Do not retry; correct the file or the environment. */
export class ConfigError extends ClientError {
  readonly code = "CLIENT_CONFIG";
}

/** One of the server's reasons for rejecting a request, usually one per field. */
export interface Cause {
  /** For example `FieldValueInvalid`, or `DisruptionBudget` for a rejected eviction. */
  readonly reason?: string;
  readonly message?: string;
  /** For example `spec.containers[0].image`. */
  readonly field?: string;
}

/** The object of a rejected request, from the server's Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

export interface Refusal {
  /** The call: "create Pod default/web". */
  readonly attempt: string;
  /** The HTTP status. */
  readonly status: number;
  /** The server's reason, for example `AlreadyExists`; may be empty. */
  readonly reason: string;
  /** The server's message. */
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The server rejected the request. */
export class ApiError extends ClientError {
  readonly code: string = "API_ERROR";
  readonly status: number;
  readonly reason: string;
  /**
   * The server's own message, on one line and cut. For people only: it differs between versions and kinds, so do not base decisions on
   * it. It can quote the object, environment variables included; `summary` does not.
   */
  readonly serverMessage: string;
  readonly details: StatusDetails;
  /** Machine-readable causes, if the server sent any: `reason` and `field` of each. */
  readonly causes: readonly Cause[];
  /** Seconds after which the server asks to retry. */
  readonly retryAfterSeconds: number | undefined;
  readonly #attempt: string;

  constructor(refusal: Refusal, remedy = "") {
    const { attempt, status, reason, message } = refusal;
    super(`${attempt}: the server answered ${status}${reason && ` ${reason}`}: ${message}${remedy && ` → ${remedy}`}`);
    this.status = status;
    this.reason = reason;
    this.serverMessage = message;
    this.details = refusal.details ?? {};
    this.causes = this.details.causes ?? [];
    this.retryAfterSeconds = refusal.retryAfterSeconds ?? secondsIn(this.details.retryAfterSeconds);
    this.#attempt = attempt;
  }

  /**
   * `message` without values of the object, for logs, Events and a status: text that can quote the object is replaced by the names of
   * the fields.
   */
  get summary(): string {
    const text = this.#canQuote()
      ? fieldsIn(this.causes) || "its message can quote the object"
      : oneLine(this.serverMessage, 400);
    return `${this.#attempt}: the server answered ${this.status}${this.reason && ` ${this.reason}`}: ${text}`;
  }

  /** For an immutable field (422) the API server prints all of the object. A webhook says what it likes; it has no `details.kind`. */
  #canQuote(): boolean {
    return this.status === 422 || ([400, 403, 409].includes(this.status) && this.details.kind === undefined);
  }
}

/** The first fields of a rejected object: "spec.replicas (FieldValueInvalid)". */
export function fieldsIn(causes: readonly Cause[]): string {
  const fields = causes.map(({ field, reason }) => `${field ?? "it"} (${reason ?? "invalid"})`);
  return [...new Set(fields)].slice(0, 5).join(", ");
}

/** A Status is not validated, and it may not come from an API server. */
function secondsIn(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** The server does not accept the credentials. The client has already retried once with new credentials. */
export class UnauthorizedError extends ApiError {
  override readonly code = "API_UNAUTHORIZED";
  constructor(refusal: Refusal) {
    super(refusal, "the credentials are missing, expired or of another cluster");
  }
}

/** RBAC, admission or a quota forbids the request. Do not retry until the configuration changes. */
export class ForbiddenError extends ApiError {
  override readonly code = "API_FORBIDDEN";
}

/** The object, or its kind, does not exist. */
export class NotFoundError extends ApiError {
  override readonly code = "API_NOT_FOUND";
}

/** The object changed between read and write. Retry: the next reconcile reads the current state. */
export class ConflictError extends ApiError {
  override readonly code = "API_CONFLICT";
}

/** The object already exists, possibly from an earlier attempt. */
export class AlreadyExistsError extends ApiError {
  override readonly code = "API_ALREADY_EXISTS";
}

/** The object is invalid; `causes` names the fields. Do not retry without changing the object. */
export class InvalidError extends ApiError {
  override readonly code = "API_INVALID";
}

/** The requested resourceVersion or continue token has expired: list again. */
export class ExpiredError extends ApiError {
  override readonly code = "API_EXPIRED";
}

/** The server is overloaded, or a disruption budget forbids an eviction. Retry later; see `retryAfterSeconds`. */
export class TooManyRequestsError extends ApiError {
  override readonly code = "API_TOO_MANY_REQUESTS";
}

/** The server failed while processing the request. Whether a write was committed is unknown. */
export class InternalError extends ApiError {
  override readonly code = "API_INTERNAL";
}

/** The server, or a proxy in front of it, is not ready. */
export class UnavailableError extends ApiError {
  override readonly code = "API_UNAVAILABLE";
}

/** The server timed out waiting for a backend. Whether a write was committed is unknown. */
export class ServerTimeoutError extends ApiError {
  override readonly code = "API_SERVER_TIMEOUT";
}

/** A response that does not come from a Kubernetes API server, such as an HTML login page or truncated JSON. */
export class AnswerError extends ClientError {
  readonly code = "ANSWER_NOT_UNDERSTOOD";
}

/** "not-sent": the server certainly did not receive the request. "unknown": it may have processed it; read before you retry. */
export type Outcome = "not-sent" | "unknown";

/** There was no response. */
export class TransportError extends ClientError {
  readonly code: string = "TRANSPORT_FAILED";
  readonly outcome: Outcome;
  constructor(message: string, options: { readonly outcome: Outcome; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.outcome = options.outcome;
  }
}

/** There was no response before the deadline. */
export class TimeoutError extends TransportError {
  override readonly code = "TRANSPORT_TIMEOUT";
}

/** A watch was cut off. All earlier events were delivered. Watch again. */
export class BrokenStreamError extends TransportError {
  override readonly code = "WATCH_BROKEN";
  constructor(message: string, cause?: unknown) {
    super(message, { outcome: "unknown", cause });
  }
}

/** No event and no bookmark for longer than `idleMs`: the connection is probably dead. */
export class IdleWatchError extends TransportError {
  override readonly code = "WATCH_IDLE";
  constructor(message: string, cause?: unknown) {
    super(message, { outcome: "unknown", cause });
  }
}
