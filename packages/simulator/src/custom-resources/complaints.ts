// The complaints about custom resources, in the words of the API server. They differ from those about built-in kinds, because
// another library makes them: `spec.size in body should be greater than or equal to 1`.
import type { FieldError } from "../server/field-error.ts";

/** What the real one writes where no field is meant. */
export const nowhere = "<nil>";

function error(reason: string, field: string, message: string): FieldError {
  return { reason, field: field === "" ? nowhere : field, message };
}

/** As Go prints a value of JSON. */
function shown(value: unknown): string {
  return JSON.stringify(value);
}

/** Quotes the path in the sentence: "… in body should match …". */
export function invalidIn(path: string, value: unknown, demand: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${shown(value)}: ${path} in body ${demand}`);
}

/** `found` is the type of what was found, or the text that is of no such format. */
export function wrongType(path: string, type: string, found: string): FieldError {
  const sentence = `${path} in body must be of type ${type}: ${shown(found)}`;
  return error("FieldValueTypeInvalid", path, `Invalid value: ${shown(found)}: ${sentence}`);
}

export function invalidValue(path: string, value: unknown, detail: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${shown(value)}: ${detail}`);
}

/** Objects and lists are not repeated in the sentence about them. */
export function invalidWhole(path: string, detail: string): FieldError {
  return error("FieldValueInvalid", path, `Invalid value: ${detail}`);
}

/** Of a schema as a whole, without a field of its own. */
export function unplaced(detail: string): FieldError {
  return error("FieldValueInvalid", "", `Invalid value: "": ${detail}`);
}

/** In the order of the definition, which is how they differ from those of built-in kinds. */
export function unsupported(path: string, value: unknown, values: readonly unknown[]): FieldError {
  const supported = values.map((each) => (typeof each === "string" ? shown(each) : shown(shown(each))));
  const message = `Unsupported value: ${shown(value)}: supported values: ${supported.join(", ")}`;
  return error("FieldValueNotSupported", path, message);
}

const blocking = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Whether rules cannot be asked about an object that has this wrong. */
export function isBlocking({ reason }: FieldError): boolean {
  return blocking.has(reason);
}

export const rulesNotChecked: FieldError = {
  reason: "FieldValueInvalid",
  field: nowhere,
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};
