// API errors: one class and one factory per reason, with the codes, messages, and details of the real API server. The server
// turns a thrown StatusError into the response.
import type { Cause, StatusDetails } from "@memhog/runtime/client";
import { causesOf, type FieldError, invalid as invalidField, messageOf } from "./field-error.ts";

/** The resource in an error, for example "pods", or "deployments" in "apps". */
export interface Subject {
  readonly group: string;
  readonly plural: string;
}

/** `metav1.Status` as sent. */
export interface StatusBody {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface Failure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** The token to continue a list at the current version. */
  readonly continue?: string | undefined;
}

export class StatusError extends Error {
  override readonly name = "StatusError";
  /** Stable and derived from the reason, for example "STATUS_NOT_FOUND". */
  readonly code: string;
  readonly body: StatusBody;

  constructor({ code, reason, message, details, continue: token }: Failure) {
    super(message);
    this.code = `STATUS_${reason.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}`;
    const metadata = token === undefined ? {} : { continue: token };
    const common = { kind: "Status", apiVersion: "v1", metadata, status: "Failure" } as const;
    this.body = { ...common, message, ...(reason && { reason }), ...(details && { details }), code };
  }

  /** The HTTP status. */
  get status(): number {
    return this.body.code;
  }
}

/** Formats a resource as messages do: "pods", "deployments.apps". */
function resourceOf({ group, plural }: Subject): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** Status details contain the plural as `kind`; only `Invalid` contains the kind itself. */
function details({ group, plural }: Subject, name: string): StatusDetails {
  return { ...(name && { name }), ...(group && { group }), kind: plural };
}

export function notFound(subject: Subject, name: string): StatusError {
  const message = `${resourceOf(subject)} "${name}" not found`;
  return new StatusError({ code: 404, reason: "NotFound", message, details: details(subject, name) });
}

/** The path does not exist, as opposed to an object. */
export function noSuchResource(): StatusError {
  const message = "the server could not find the requested resource";
  return new StatusError({ code: 404, reason: "NotFound", message, details: {} });
}

export function alreadyExists(subject: Subject, name: string, beingDeleted = false): StatusError {
  const message = `${beingDeleted ? "object is being deleted: " : ""}${resourceOf(subject)} "${name}" already exists`;
  return new StatusError({ code: 409, reason: "AlreadyExists", message, details: details(subject, name) });
}

export const changedMeanwhile = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(subject: Subject, name: string, why = changedMeanwhile, causes?: readonly Cause[]): StatusError {
  const message = `Operation cannot be fulfilled on ${resourceOf(subject)} "${name}": ${why}`;
  return new StatusError({
    code: 409,
    reason: "Conflict",
    message,
    details: { ...details(subject, name), ...(causes && { causes }) },
  });
}

/** `kind` is the kind here, for example "Pod", with its group. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const spelledKind = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const about = { ...(name && { name }), ...(kind.group && { group: kind.group }), ...(kind.kind && { kind: kind.kind }) };
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: `${spelledKind} ${JSON.stringify(name)} is invalid: ${messageOf(errors)}`,
    details: { ...about, causes: causesOf(errors) },
  });
}

/** The result of a patch is not a valid object. */
export function invalidPatch(made: object, why: string): StatusError {
  return invalid({ group: "", kind: "" }, "", [invalidField("patch", JSON.stringify(made), why)]);
}

export function forbidden(subject: Subject, name: string, why: string, causes?: readonly Cause[]): StatusError {
  const message = `${resourceOf(subject)} "${name}" is forbidden: ${why}`;
  return new StatusError({
    code: 403,
    reason: "Forbidden",
    message,
    details: { ...details(subject, name), ...(causes && { causes }) },
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: "BadRequest", message });
}

export function requestTooLarge(limit: number): StatusError {
  const message = `Request entity too large: limit is ${limit}`;
  return new StatusError({ code: 413, reason: "RequestEntityTooLarge", message });
}

/** The requested version or page was compacted. `token` continues the list at the current version. */
export function expired(message: string, token?: string): StatusError {
  return new StatusError({ code: 410, reason: "Expired", message, continue: token });
}

/** The requested resourceVersion is in the future. */
export function tooLargeResourceVersion(asked: bigint, current: bigint): StatusError {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new StatusError({ code: 504, reason: "Timeout", message, details: { causes, retryAfterSeconds: 1 } });
}

export function tooManyRequests(message: string, more: StatusDetails = {}): StatusError {
  return new StatusError({ code: 429, reason: "TooManyRequests", message, details: more });
}

export function methodNotAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return new StatusError({ code: 415, reason: "UnsupportedMediaType", message });
}

/** `form`: the server does not know the requested form of the object (such as a table), as opposed to the media type. */
export function notAcceptable(form: boolean): StatusError {
  const types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  const message = form
    ? `only the following media types are accepted: ${types}`
    : `406: Not Acceptable\n\nAvailable representations: ${types}, ${streams}`;
  return new StatusError({ code: 406, reason: "NotAcceptable", message, ...(form ? {} : { details: {} }) });
}

export function internalError(why: string): StatusError {
  const details = { causes: [{ message: why }] };
  return new StatusError({ code: 500, reason: "InternalError", message: `Internal error occurred: ${why}`, details });
}

export function serviceUnavailable(message: string): StatusError {
  return new StatusError({ code: 503, reason: "ServiceUnavailable", message });
}

/** The simulator does not implement this feature of a real cluster. The README lists them. */
export function notImplemented(what: string): StatusError {
  return new StatusError({ code: 501, reason: "NotImplemented", message: `the simulator does not implement ${what}` });
}
