// Decodes and encodes built-in kinds as Go does with structs: drops unknown fields (and reports them), rejects wrong types, treats
// null and zero as missing unless the field is a pointer, normalizes quantities, and always writes required fields. Clients notice
// this when they compare what they sent with the response.
//
// `readAsGo` runs before defaulting, `writeAsGo` after it. Both run on every write, so they build paths only for errors and skip
// frozen values, which come from storage and are already normalized.
import { parseQuantity } from "@memhog/runtime";
import { type Draft, isObject, type JsonObject, parseTime } from "../json.ts";
import { type Field, type GoType, structNamed, zeroOf } from "./structs.ts";

/** The object does not match the Go struct of its kind. The message is that of Go. */
export class ShapeError extends Error {
  readonly code = "OBJECT_SHAPE";
  override readonly name = "ShapeError";
}

/** Normalizes a draft according to its struct. Returns the paths of unknown fields. @throws ShapeError */
export function readAsGo(draft: Draft, struct: string): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(draft, struct, undefined);
  return unknown;
}

/** The same for metadata, the only part of a custom resource that Go has a struct for. @throws ShapeError */
export function readMetadataAsGo({ metadata }: Draft): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(metadata, "meta.v1.ObjectMeta", { up: undefined, json: "", shown: "metadata", struct: "" });
  return unknown;
}

/** The path to a value, as a linked list. Only errors format it. */
interface Place {
  readonly up: Place | undefined;
  /** The path in messages of Go's decoder: "spec.containers.env", without list indexes and map keys. */
  readonly json: string;
  /** The path in field errors: "spec.containers[0].env". */
  readonly shown: string | number;
  /** The struct that contains the field. */
  readonly struct: string;
}

class Reader {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  struct(object: JsonObject, name: string, up: Place | undefined): void {
    const fields = structNamed(name);
    if (fields === undefined || Object.isFrozen(object)) return;
    for (const key of Object.keys(object)) {
      const field = fields.get(key);
      if (field === undefined) this.#drop(object, key, up);
      else this.#field(object, field, { up, json: field.path, shown: key, struct: field.struct });
    }
  }

  #drop(object: JsonObject, key: string, up: Place | undefined): void {
    this.#unknown.push(shownPath({ up, json: "", shown: key, struct: "" }));
    delete object[key];
  }

  #field(object: JsonObject, field: Field, at: Place): void {
    const found = object[at.shown];
    const value = this.#value(found, field.goType, at);
    if (value === undefined || (!field.pointer && isZero(value, field))) delete object[at.shown];
    else if (value !== found) object[at.shown] = value;
  }

  /** Returns the value as Go writes it, or undefined for null. */
  #value(value: unknown, type: GoType, at: Place): unknown {
    if (value === null || value === undefined) return undefined;
    if (type.kind === "scalar") return scalars[type.name]?.(value) ?? wrong(value, type.name, at);
    if (type.kind === "list") return this.#list(value, type, at);
    if (!isObject(value)) throw wrong(value, type.name, at);
    if (type.kind === "map") this.#map(value, type.item, at);
    else this.struct(value, type.name, at);
    return value;
  }

  #list(value: unknown, { name, item }: Extract<GoType, { kind: "list" }>, up: Place): unknown {
    if (!Array.isArray(value)) throw wrong(value, name, up);
    if (Object.isFrozen(value)) return value;
    const { struct } = up;
    return value.map((each, shown) => this.#value(each, item, { up, json: "", shown, struct }) ?? zeroOf(item));
  }

  #map(value: JsonObject, item: GoType, up: Place): void {
    if (Object.isFrozen(value)) return;
    const { struct } = up;
    for (const shown of Object.keys(value)) {
      value[shown] = this.#value(value[shown], item, { up, json: "", shown, struct }) ?? zeroOf(item);
    }
  }
}

function shownPath({ up, shown }: Place): string {
  const before = up === undefined ? "" : shownPath(up);
  if (typeof shown === "number") return `${before}[${shown}]`;
  return before === "" ? shown : `${before}.${shown}`;
}

function jsonPath({ up, json }: Place): string {
  const before = up === undefined ? "" : jsonPath(up);
  return before === "" || json === "" ? before + json : `${before}.${json}`;
}

/** Each returns the value as Go writes it, returns undefined for another type, or throws Go's error. */
const scalars: Readonly<Record<string, (value: unknown) => unknown>> = {
  any: (value) => value,
  string: text,
  bytes: text,
  time: (value) => (typeof value === "string" ? time(value) : undefined),
  microtime: (value) => (typeof value === "string" ? time(value) : undefined),
  bool: (value) => (typeof value === "boolean" ? value : undefined),
  int32: whole,
  int64: whole,
  float64: (value) => (typeof value === "number" ? value : undefined),
  "int-or-string": (value) => (typeof value === "string" ? value : whole(value)),
  quantity,
};

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

function time(value: string): string {
  if (/^\d{4}-/.test(value) && parseTime(value) !== undefined) return value;
  const quoted = JSON.stringify(value);
  throw new ShapeError(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
}

function quantity(value: unknown): string {
  try {
    return parseQuantity(String(value)).toString();
  } catch {
    throw new ShapeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

const goTypes: Readonly<Record<string, string>> = { "int-or-string": "int32", "{}quantity": "v1.ResourceList" };

/** Always throws. The return type allows its use as an expression. */
function wrong(value: unknown, type: string, at: Place): never {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const number = typeof value === "number" && !Number.isInteger(value) ? ` ${value}` : "";
  const named = goTypes[type] ?? type.replace(/\w+\.(?=\w+\.\w+$)/, "").replaceAll("{}", "map[string]");
  throw new ShapeError(
    `json: cannot unmarshal ${found}${number} into Go struct field ${at.struct}.${jsonPath(at)} of type ${named}`,
  );
}

/** Whether this is the zero value of a field that is not a pointer. Go cannot distinguish it from a missing field. */
function isZero(value: unknown, { always }: Field): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (always) return false;
  return Array.isArray(value) && value.length === 0;
}

// Writing: adds fields that Go always writes.

/** Adds required fields recursively. Drops empty maps. */
export function writeAsGo(object: JsonObject, struct: string): void {
  if (Object.isFrozen(object)) return;
  for (const [name, field] of fieldsToWrite(struct)) {
    const value = object[name] ?? absent(field);
    if (value === undefined || isLeftOut(value, field)) delete object[name];
    else if (value !== object[name]) object[name] = value;
    writeInside(value, field.goType);
  }
  dropNulls(object, struct);
}

function writeInside(value: unknown, type: GoType): void {
  if (value === null || typeof value !== "object" || type.kind === "scalar") return;
  if (type.kind === "struct") writeAsGo(value as JsonObject, type.name);
  else if (isPlain(type.item) || Object.isFrozen(value)) return;
  else for (const each of Object.values(value)) writeInside(each, type.item);
}

/** Whether the type needs no additions. */
function isPlain(type: GoType): boolean {
  return type.kind === "scalar" || (type.kind !== "struct" && isPlain(type.item));
}

/** The fields of each struct that can need additions. Skips optional scalars, which are most fields. */
const toWrite = new Map<string, readonly (readonly [string, Field])[]>();

function fieldsToWrite(struct: string): readonly (readonly [string, Field])[] {
  const known = toWrite.get(struct);
  if (known !== undefined) return known;
  const matters = (field: Field) => !isPlain(field.goType) || field.goType.kind === "map" || absent(field) !== undefined;
  const fields = [...(structNamed(struct) ?? [])].filter(([, field]) => matters(field));
  toWrite.set(struct, fields);
  return fields;
}

/** Drops nulls that defaults or admission set. */
function dropNulls(object: JsonObject, struct: string): void {
  for (const name of Object.keys(object)) {
    if (object[name] !== null && object[name] !== undefined) continue;
    const field = structNamed(struct)?.get(name);
    if (field !== undefined && absent(field) === undefined) delete object[name];
  }
}

function isLeftOut(value: unknown, { always, goType }: Field): boolean {
  return !always && goType.kind === "map" && isObject(value) && Object.keys(value).length === 0;
}

/** The value that Go writes for a missing field. Undefined if Go omits it. */
function absent({ goType, pointer, always, omitZero }: Field): unknown {
  if (omitZero) return undefined;
  if (pointer || goType.kind === "list" || goType.kind === "map") return always ? null : undefined;
  return always || isStruct(goType) ? zeroOf(goType) : undefined;
}

const structsInGo = ["time", "microtime", "quantity", "int-or-string"];

/** `omitempty` has no effect on structs, and Go represents these types as structs. */
function isStruct({ kind, name }: GoType): boolean {
  return kind === "struct" || structsInGo.includes(name);
}
