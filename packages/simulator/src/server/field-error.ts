// Field errors, with the messages of the real API server (apimachinery's field.Error). A response contains them twice: in the
// message and as `details.causes`.
import type { Cause } from "@memhog/runtime/client";

export interface FieldError {
  /** For example `FieldValueInvalid`. */
  readonly reason: string;
  /** For example `spec.containers[0].image`. */
  readonly field: string;
  /** Without the field, for example `Invalid value: "X": must be positive`. */
  readonly message: string;
}

/** A missing or empty field. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: withDetail(`Invalid value: ${formatted(value)}`, detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map((each) => JSON.stringify(each));
  const message = `Unsupported value: ${formatted(value)}: supported values: ${values.join(", ")}`;
  return { reason: "FieldValueNotSupported", field, message };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${formatted(value)}` };
}

export function notFoundField(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${formatted(value)}` };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

export function tooLong(field: string, maxLength: number): FieldError {
  const message = `Too long: may not be more than ${maxLength} bytes`;
  return { reason: "FieldValueTooLong", field, message };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const message = `Too many: ${actual}: must have at most ${max} item${max === 1 ? "" : "s"}`;
  return { reason: "FieldValueTooMany", field, message };
}

/** Formats errors as "spec.replicas: Required value", or as "[a, b]" for several. */
export function messageOf(errors: readonly FieldError[]): string {
  const sentences = errors.map(({ field, message }) => `${field}: ${message}`);
  return sentences.length === 1 ? (sentences[0] ?? "") : `[${sentences.join(", ")}]`;
}

export function causesOf(errors: readonly FieldError[]): readonly Cause[] {
  return errors.map(({ reason, field, message }) => ({ reason, message, field }));
}

/** Formats a value as Go does: strings in quotes, objects as JSON. */
function formatted(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}

function withDetail(message: string, detail: string): string {
  return detail === "" ? message : `${message}: ${detail}`;
}
