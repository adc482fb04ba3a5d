// Every way a call can go wrong, once. The class says what a caller may do about it, the stable `code` is for logs and
// metrics, the message says what was attempted, what came back and what to do.
//
//     ClientError
//     ├─ ConfigError           the kubeconfig or service account is unusable; nothing was sent
//     ├─ ApiError              the server answered, and the answer is no
//     │  ├─ UnauthorizedError  ForbiddenError  NotFoundError  ConflictError  AlreadyExistsError  InvalidError
//     │  └─ ExpiredError  TooManyRequestsError  InternalError  UnavailableError  ServerTimeoutError
//     ├─ AnswerError           something answered that does not speak Kubernetes
//     └─ TransportError        there was no answer; a write may have been committed all the same (`outcome`)
//        ├─ TimeoutError       not within the time the caller gave
//        ├─ BrokenStreamError  a watch ended in the middle of an event
//        └─ IdleWatchError     a watch said nothing for too long
//
// Credentials never reach a message: nothing here is ever given one.

/** Anything the client throws on purpose. */
export abstract class ClientError extends Error {
  /** Stable: safe to match on, to log and to count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** How to reach the cluster could not be found out. Retrying does not help; correcting the file or environment does. */
export class ConfigError extends ClientError {
  readonly code = "CLIENT_CONFIG";
}

/** One of the reasons a server gives for a refusal, usually one per field. */
export interface Cause {
  /** Like `FieldValueInvalid`, or `DisruptionBudget` on a refused eviction. */
  readonly reason?: string;
  readonly message?: string;
  /** Like `spec.containers[0].image`. */
  readonly field?: string;
}

/** What the object of a refusal was, in the server's words. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

export interface Refusal {
  /** What the caller wanted: "create Pod default/web". */
  readonly attempt: string;
  /** The HTTP status. */
  readonly status: number;
  /** The server's word for it, like `AlreadyExists`; may be empty. */
  readonly reason: string;
  /** The server's sentence. */
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The server understood the call and refused it. */
export class ApiError extends ClientError {
  readonly code: string = "API_ERROR";
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  readonly causes: readonly Cause[];
  /** Seconds after which the server would like to be asked again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal, remedy = "") {
    const { attempt, status, reason, message } = refusal;
    super(`${attempt}: the server answered ${status}${reason && ` ${reason}`}: ${message}${remedy && ` → ${remedy}`}`);
    this.status = status;
    this.reason = reason;
    this.details = refusal.details ?? {};
    this.causes = this.details.causes ?? [];
    this.retryAfterSeconds = refusal.retryAfterSeconds ?? secondsIn(this.details.retryAfterSeconds);
  }
}

/** Nobody but an API server has checked what stands in a Status, and not everything that answers is one. */
function secondsIn(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** The server does not know who we are. The client has already tried fresh credentials once. */
export class UnauthorizedError extends ApiError {
  override readonly code = "API_UNAUTHORIZED";
  constructor(refusal: Refusal) {
    super(refusal, "the credentials are missing, expired or of another cluster");
  }
}

/** The server knows us and says no: RBAC, admission, quota. Repeating it changes nothing until somebody changes something. */
export class ForbiddenError extends ApiError {
  override readonly code = "API_FORBIDDEN";
}

/** There is no such object, or no such kind of object. */
export class NotFoundError extends ApiError {
  override readonly code = "API_NOT_FOUND";
}

/** The object changed between our read and our write. The next reconcile reads afresh, so a plain retry is right. */
export class ConflictError extends ApiError {
  override readonly code = "API_CONFLICT";
}

/** Somebody, perhaps an earlier attempt of ours, has created it already. */
export class AlreadyExistsError extends ApiError {
  override readonly code = "API_ALREADY_EXISTS";
}

/** The object itself is wrong; `causes` names the fields. It will not become right by sending it again. */
export class InvalidError extends ApiError {
  override readonly code = "API_INVALID";
}

/** The history we asked to continue from is gone: list again and start from there. */
export class ExpiredError extends ApiError {
  override readonly code = "API_EXPIRED";
}

/** The server is busy, or a disruption budget forbids an eviction. Later, not now; see `retryAfterSeconds`. */
export class TooManyRequestsError extends ApiError {
  override readonly code = "API_TOO_MANY_REQUESTS";
}

/** The server failed in the middle. Whether a write was committed is unknown. */
export class InternalError extends ApiError {
  override readonly code = "API_INTERNAL";
}

/** The server, or what stands in front of it, is not ready. */
export class UnavailableError extends ApiError {
  override readonly code = "API_UNAVAILABLE";
}

/** The server gave up waiting for something behind it. Whether a write was committed is unknown. */
export class ServerTimeoutError extends ApiError {
  override readonly code = "API_SERVER_TIMEOUT";
}

/** An answer that is not Kubernetes: HTML of a login page, half a JSON document. */
export class AnswerError extends ClientError {
  readonly code = "ANSWER_NOT_UNDERSTOOD";
}

/** "not-sent": the server surely never saw it. "unknown": it may have acted on it; read before assuming anything. */
export type Outcome = "not-sent" | "unknown";

/** No answer came. */
export class TransportError extends ClientError {
  readonly code: string = "TRANSPORT_FAILED";
  readonly outcome: Outcome;
  constructor(message: string, options: { readonly outcome: Outcome; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.outcome = options.outcome;
  }
}

/** No answer came in the time allowed. */
export class TimeoutError extends TransportError {
  override readonly code = "TRANSPORT_TIMEOUT";
}

/** A watch was cut off in the middle: everything before was delivered, nothing of the rest was. Watch again. */
export class BrokenStreamError extends TransportError {
  override readonly code = "WATCH_BROKEN";
  constructor(message: string, cause?: unknown) {
    super(message, { outcome: "unknown", cause });
  }
}

/** Not even a bookmark for longer than `idleMs`: the connection is probably dead without anyone having said so. */
export class IdleWatchError extends TransportError {
  override readonly code = "WATCH_IDLE";
  constructor(message: string, cause?: unknown) {
    super(message, { outcome: "unknown", cause });
  }
}
