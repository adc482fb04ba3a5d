// Converts a response to a value or an error. The API server rejects a request with a `Status` object. Load balancers and login
// proxies in front of it respond with HTML, sometimes even with a 2xx status.
import { isRecord, ownValue } from "../objects/diff.ts";
import type { KubernetesObject } from "../objects/object.ts";
import { oneLine } from "../objects/untrusted-text.ts";
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
import type { TransportResponse } from "./transport/transport.ts";

/** `metav1.Status`: an error, or the result of some successful calls. */
export interface Status {
  readonly kind: "Status";
  readonly status?: "Success" | "Failure";
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

/** The reason takes precedence over the HTTP status: one status covers several reasons (409 is both Conflict and AlreadyExists). */
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

/** The error for a response that is not 2xx. */
export function refusalOf(attempt: string, response: { status: number; headers: TransportResponse["headers"]; body: string }) {
  const retryAfterSeconds = retryAfterOf(response.headers);
  const status = statusIn(response.body);
  if (status !== undefined) return errorOf(attempt, status, { status: response.status, retryAfterSeconds });
  const message = excerpt(response.body) || "no explanation";
  return errorFor({ attempt, status: response.status, reason: "", message, retryAfterSeconds });
}

/**
 * The error that a Status object represents, from a response body or from an ERROR event of a watch. A Status is not validated, and it
 * may not come from an API server: fields of another type are dropped, text is cut.
 */
export function errorOf(attempt: string, status: Status, over: { status?: number; retryAfterSeconds?: number | undefined } = {}) {
  return errorFor({
    attempt,
    status: over.status ?? (typeof status.code === "number" ? status.code : 500),
    reason: textOf(status.reason, 100) ?? "",
    message: textOf(status.message, 4000) || "no explanation",
    details: detailsOf(status.details),
    retryAfterSeconds: over.retryAfterSeconds,
  });
}

function detailsOf(value: unknown): StatusDetails {
  if (!isRecord(value)) return {};
  const causes = Array.isArray(value.causes) ? value.causes.filter(isRecord).slice(0, 20) : [];
  const { retryAfterSeconds } = value;
  return {
    ...textsOf(value, ["name", "group", "kind", "uid"]),
    ...(causes.length > 0 && { causes: causes.map((cause) => textsOf(cause, ["reason", "message", "field"])) }),
    ...(typeof retryAfterSeconds === "number" && { retryAfterSeconds }),
  };
}

function textsOf<K extends string>(
  value: Readonly<Record<string, unknown>>,
  names: readonly K[],
): { readonly [N in K]?: string } {
  const texts = names.map((name) => [name, textOf(value[name], 1000)] as const).filter(([, text]) => text !== undefined);
  return Object.fromEntries(texts) as { readonly [N in K]?: string };
}

function textOf(value: unknown, maxLength: number): string | undefined {
  return typeof value === "string" ? oneLine(value, maxLength) : undefined;
}

function errorFor(refusal: Refusal): ApiError {
  const Class = ownValue(byReason, refusal.reason) ?? ownValue(byStatus, refusal.status) ?? ApiError;
  return new Class(refusal);
}

/** The object in a 2xx response. */
export function objectIn(attempt: string, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Do not include the parser's message or the text if it may be an object: it could be a Secret.
    const found = looksLikeJson(body) ? `${body.length} characters of broken JSON` : excerpt(body) || "nothing";
    const remedy = "check the server address and what stands in front of it";
    throw new AnswerError(`${attempt}: expected JSON from the API server, found ${found} → ${remedy}`);
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}

/** Whether a value is a list. An empty list has `items`, even if null. */
export function isList(
  value: unknown,
): value is Pick<ObjectList<KubernetesObject>, "metadata"> & { readonly items: object[] | null } {
  return typeof value === "object" && value !== null && "metadata" in value && "items" in value;
}

/** The seconds of a Retry-After header. API servers do not send dates. */
export function retryAfterOf(headers: TransportResponse["headers"]): number | undefined {
  const seconds = Number.parseInt(headers["retry-after"] ?? "", 10);
  return Number.isNaN(seconds) || seconds < 0 ? undefined : seconds;
}

function statusIn(body: string): Status | undefined {
  if (!looksLikeJson(body)) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined; // ignore an incomplete Status: the HTTP status is enough
  }
}

function looksLikeJson(body: string): boolean {
  return /^\s*\{/.test(body);
}

/** The start of a text on one line, or the title of an HTML page. */
function excerpt(text: string): string {
  const beginning = text.slice(0, 5000);
  const [, title = ""] = (/^\s*</.test(beginning) && /<title[^>]{0,100}>([^<]*)</i.exec(beginning)) || [];
  return oneLine(title.trim() === "" ? beginning : `the page "${title.trim()}"`, 200);
}

const form = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** The texts of the `Warning` headers (`299 - "spec.foo: unknown field"`), about deprecations and unknown fields. */
export function warningsIn(headers: TransportResponse["headers"]): readonly string[] {
  const { warning } = headers;
  if (warning === undefined) return [];
  return [...warning.matchAll(form)].map(([, text = ""]) => oneLine(text.replace(/\\(.)/g, "$1"), 1000));
}
