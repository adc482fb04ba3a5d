// From an answer to a value or to the right error. Kubernetes says no with a `Status` object; what stands in front of it
// (load balancers, login proxies) says no with HTML, and sometimes says yes with it.
import type { KubernetesObject } from "../objects/object.ts";
import type { ObjectList } from "./client.ts";
import {
  AlreadyExistsError,
  AnswerError,
  ApiError,
  ConflictError,
  ExpiredError,
  ForbiddenError,
  InternalError,
  InvalidError,
  NotFoundError,
  type Refusal,
  ServerTimeoutError,
  type StatusDetails,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
} from "./errors.ts";
import { protobufStatusIn } from "./scan/protobuf-status.ts";
import { protobufStart, type TransportResponse } from "./transport/transport.ts";

/** `metav1.Status`: how the API says no, and sometimes how it says yes. */
export interface Status {
  readonly kind: "Status";
  readonly status?: "Success" | "Failure";
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

/** The reason decides before the number: one number covers several (409 is both Conflict and AlreadyExists). */
const byReason: Readonly<Record<string, new (refusal: Refusal) => ApiError>> = {
  Unauthorized: UnauthorizedError,
  Forbidden: ForbiddenError,
  NotFound: NotFoundError,
  Conflict: ConflictError,
  AlreadyExists: AlreadyExistsError,
  Invalid: InvalidError,
  Expired: ExpiredError,
  Gone: ExpiredError,
  TooManyRequests: TooManyRequestsError,
  InternalError: InternalError,
  ServiceUnavailable: UnavailableError,
  ServerTimeout: ServerTimeoutError,
  Timeout: ServerTimeoutError,
};

const byStatus: Readonly<Record<number, new (refusal: Refusal) => ApiError>> = {
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: ExpiredError,
  422: InvalidError,
  429: TooManyRequestsError,
  500: InternalError,
  502: UnavailableError,
  503: UnavailableError,
  504: ServerTimeoutError,
};

/** The error for an answer that is not 2xx. */
export function refusalOf(attempt: string, response: { status: number; headers: TransportResponse["headers"]; body: string }) {
  const retryAfterSeconds = retryAfterOf(response.headers);
  const status = statusIn(response.body);
  if (status !== undefined) return errorOf(attempt, status, { status: response.status, retryAfterSeconds });
  const message = excerpt(response.body) || "no explanation";
  return errorFor({ attempt, status: response.status, reason: "", message, retryAfterSeconds });
}

/** The error a Status object stands for, wherever it came from: a body, or an ERROR event of a watch. */
export function errorOf(attempt: string, status: Status, over: { status?: number; retryAfterSeconds?: number | undefined } = {}) {
  return errorFor({
    attempt,
    status: over.status ?? status.code ?? 500,
    reason: status.reason ?? "",
    message: status.message ?? "no explanation",
    details: status.details,
    retryAfterSeconds: over.retryAfterSeconds,
  });
}

function errorFor(refusal: Refusal): ApiError {
  const Class = byReason[refusal.reason] ?? byStatus[refusal.status] ?? ApiError;
  return new Class(refusal);
}

/** The object in a 2xx answer. */
export function objectIn(attempt: string, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Neither the parser's complaint nor the beginning of the text is repeated if it may be an object: it could be a Secret.
    const found = looksLikeJson(body) ? `${body.length} characters of broken JSON` : excerpt(body) || "nothing";
    const remedy = "check the server address and what stands in front of it";
    throw new AnswerError(`${attempt}: expected JSON from the API server, found ${found} → ${remedy}`);
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}

/** Any object has metadata. What has no items either is not an empty list: that one says so, if only with null. */
export function isList(
  value: unknown,
): value is Pick<ObjectList<KubernetesObject>, "metadata"> & { readonly items: object[] | null } {
  return typeof value === "object" && value !== null && "metadata" in value && "items" in value;
}

/** Seconds of a Retry-After header. Only the form with seconds: API servers send no dates. */
export function retryAfterOf(headers: TransportResponse["headers"]): number | undefined {
  const seconds = Number.parseInt(headers["retry-after"] ?? "", 10);
  return Number.isNaN(seconds) || seconds < 0 ? undefined : seconds;
}

function statusIn(body: string): Status | undefined {
  if (body.startsWith(protobufStart)) return protobufStatusIn(Buffer.from(body, "latin1"));
  if (!looksLikeJson(body)) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined; // half a Status is as good as none: its number still tells what happened
  }
}

function looksLikeJson(body: string): boolean {
  return /^\s*\{/.test(body);
}

/** The beginning of a text, on one line; of a page with a title, the title. */
function excerpt(text: string): string {
  if (text.startsWith(protobufStart)) return "protobuf";
  const beginning = text.slice(0, 5000);
  const [, title = ""] = /^\s*<[\s\S]*<title[^>]*>([^<]*)</i.exec(beginning) ?? [];
  const line = (title.trim() === "" ? beginning.slice(0, 1000) : `the page "${title.trim()}"`).replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
