// What becomes of an object when Go reads it and writes it again. Built-in kinds are structs on the real server, so a field
// that the struct does not have is dropped (and told), one of the wrong type makes the request unreadable, null and zero
// are the same as nothing unless the field is a pointer, a quantity comes back in its canonical spelling; and what must
// always be there is, even if it is empty. Clients compare what they sent with what they got, so all of this can be told.
//
// `readAsGo` comes before defaults, `writeAsGo` after them, as in the real server.
import { parseQuantity } from "@memhog/runtime";
import { type Draft, isObject, type JsonObject } from "../json.ts";
import { parseTime } from "../time.ts";
import { type Field, structNamed } from "./structs.ts";

/** The object is not of the shape that its kind has; the message is Go's. */
export class ShapeError extends Error {
  readonly code = "OBJECT_SHAPE";
  override readonly name = "ShapeError";
}

/** Gives a draft the shape of its struct; tells the fields that the struct does not have. @throws ShapeError */
export function readAsGo(draft: Draft, struct: string): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(draft, struct, { json: "", shown: "" });
  return unknown;
}

/** The same for metadata alone: of custom resources it is all that Go knows. @throws ShapeError */
export function readMetadataAsGo({ metadata }: Draft): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(metadata, "meta.v1.ObjectMeta", { json: "", shown: "metadata" });
  return unknown;
}

/** Where we are: as Go's decoder says it ("spec.containers.env"), and as complaints about fields do ("spec.containers[0].env"). */
interface Place {
  readonly json: string;
  readonly shown: string;
}

class Reader {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  struct(object: JsonObject, name: string, at: Place): void {
    const fields = structNamed(name);
    if (fields === undefined) return;
    for (const key of Object.keys(object)) {
      const field = fields.get(key);
      const shown = joined(at.shown, key);
      if (field === undefined) this.#drop(object, key, shown);
      else this.#field(object, key, field, { json: joined(at.json, field.path), shown });
    }
  }

  #drop(object: JsonObject, key: string, shown: string): void {
    this.#unknown.push(shown);
    delete object[key];
  }

  #field(object: JsonObject, key: string, field: Field, at: Place): void {
    const value = this.#value(object[key], field.type, at, field.struct);
    if (value === undefined || (!field.pointer && isNothing(value, field))) delete object[key];
    else object[key] = value;
  }

  /** The value as Go would write it; undefined for null. */
  #value(value: unknown, type: string, at: Place, struct: string): unknown {
    if (value === null || value === undefined) return undefined;
    if (type.startsWith("[]")) return this.#list(value, type.slice(2), at, struct);
    if (type.startsWith("{}")) return this.#map(value, type.slice(2), at, struct);
    const scalar = scalars[type];
    if (scalar !== undefined) return scalar(value) ?? wrong(value, type, at, struct);
    if (!isObject(value)) throw wrong(value, type, at, struct);
    this.struct(value, type, at);
    return value;
  }

  #list(value: unknown, type: string, at: Place, struct: string): unknown {
    if (!Array.isArray(value)) throw wrong(value, `[]${type}`, at, struct);
    return value.map((each, index) => {
      const place = { json: at.json, shown: `${at.shown}[${index}]` };
      return this.#value(each, type.replace(/^\*/, ""), place, struct) ?? zeroOf(type);
    });
  }

  #map(value: unknown, type: string, at: Place, struct: string): unknown {
    if (!isObject(value)) throw wrong(value, `{}${type}`, at, struct);
    for (const key of Object.keys(value)) {
      const place = { json: at.json, shown: joined(at.shown, key) };
      value[key] = this.#value(value[key], type, place, struct) ?? zeroOf(type);
    }
    return value;
  }
}

/** Each gives the value back as Go writes it, undefined if it is of another type, or throws what Go would say. */
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

/** Throws; declared to give something so that it can stand where a value does. */
function wrong(value: unknown, type: string, { json }: Place, struct: string): never {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const number = typeof value === "number" && !Number.isInteger(value) ? ` ${value}` : "";
  const named = goTypes[type] ?? type.replace(/\w+\.(?=\w+\.\w+$)/, "").replaceAll("{}", "map[string]");
  throw new ShapeError(`json: cannot unmarshal ${found}${number} into Go struct field ${struct}.${json} of type ${named}`);
}

/** Zero values of what is no pointer: Go cannot tell them from what was not sent. */
function isNothing(value: unknown, { always }: Field): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (always) return false;
  return Array.isArray(value) && value.length === 0;
}

/** Writes what is always written, all the way down. Maps that became empty are left out. */
export function writeAsGo(object: JsonObject, struct: string): void {
  for (const [name, field] of structNamed(struct) ?? []) {
    const value = object[name] ?? absent(field);
    if (value === undefined || isLeftOut(value, field)) delete object[name];
    else object[name] = value;
    writeInside(value, field.type);
  }
}

function writeInside(value: unknown, type: string): void {
  if (value === null || typeof value !== "object" || !type.includes(".")) return;
  const inner = type.replace(/^(\[\]|\{\})\*?/, "");
  if (type.startsWith("[]")) for (const each of value as unknown[]) writeInside(each, inner);
  else if (type.startsWith("{}")) for (const each of Object.values(value)) writeInside(each, inner);
  else writeAsGo(value as JsonObject, type);
}

function isLeftOut(value: unknown, { always, type }: Field): boolean {
  return !always && type.startsWith("{}") && isObject(value) && Object.keys(value).length === 0;
}

/** What stands for a field that is not there: nothing, unless Go has no way to leave it out. */
function absent({ type, pointer, always, omitZero }: Field): unknown {
  if (omitZero) return undefined;
  if (pointer || type.startsWith("[]") || type.startsWith("{}")) return always ? null : undefined;
  return always || isStruct(type) ? zeroOf(type) : undefined;
}

/** `omitempty` means nothing for a struct, and these are structs in Go. */
function isStruct(type: string): boolean {
  return type.includes(".") || ["time", "microtime", "quantity", "int-or-string"].includes(type);
}

const zeros: Readonly<Record<string, unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: "0",
  "int-or-string": 0,
};

function zeroOf(type: string): unknown {
  return type in zeros ? zeros[type] : type.includes(".") && !type.startsWith("[]") ? {} : null;
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
