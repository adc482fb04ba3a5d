// What becomes of an object when Go reads it and writes it again. Built-in kinds are structs on the real server, so a field
// that the struct does not have is dropped (and told), one of the wrong type makes the request unreadable, null and zero
// are the same as nothing unless the field is a pointer, a quantity comes back in its canonical spelling; and what must
// always be there is, even if it is empty. Clients compare what they sent with what they got, so all of this can be told.
//
// `readAsGo` comes before defaults, `writeAsGo` (shape-out.ts) after them, as in the real server. Every write passes here
// twice, so two things are avoided: spelling out paths that nobody will see, and looking again at what is frozen. That
// comes from storage, and has been here before.
import { parseQuantity } from "@memhog/runtime";
import { type Draft, isObject, type JsonObject } from "../json.ts";
import { parseTime } from "../time.ts";
import { type GoType, zeroOf } from "./go-types.ts";
import { type Field, structNamed } from "./structs.ts";

/** The object is not of the shape that its kind has; the message is Go's. */
export class ShapeError extends Error {
  readonly code = "OBJECT_SHAPE";
  override readonly name = "ShapeError";
}

/** Gives a draft the shape of its struct; tells the fields that the struct does not have. @throws ShapeError */
export function readAsGo(draft: Draft, struct: string): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(draft, struct, undefined);
  return unknown;
}

/** The same for metadata alone: of custom resources it is all that Go knows. @throws ShapeError */
export function readMetadataAsGo({ metadata }: Draft): readonly string[] {
  const unknown: string[] = [];
  new Reader(unknown).struct(metadata, "meta.v1.ObjectMeta", { up: undefined, json: "", shown: "metadata", struct: "" });
  return unknown;
}

/** Where we are, a step at a time; put together only if there is something to complain about. */
interface Place {
  readonly up: Place | undefined;
  /** As Go's decoder says it: "spec.containers.env". Elements of lists and maps have no name there. */
  readonly json: string;
  /** As complaints about fields do: "spec.containers[0].env". */
  readonly shown: string | number;
  /** The struct that has the field. */
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
    if (value === undefined || (!field.pointer && isNothing(value, field))) delete object[at.shown];
    else if (value !== found) object[at.shown] = value;
  }

  /** The value as Go would write it; undefined for null. */
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
function wrong(value: unknown, type: string, at: Place): never {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const number = typeof value === "number" && !Number.isInteger(value) ? ` ${value}` : "";
  const named = goTypes[type] ?? type.replace(/\w+\.(?=\w+\.\w+$)/, "").replaceAll("{}", "map[string]");
  throw new ShapeError(
    `json: cannot unmarshal ${found}${number} into Go struct field ${at.struct}.${jsonPath(at)} of type ${named}`,
  );
}

/** Zero values of what is no pointer: Go cannot tell them from what was not sent. */
function isNothing(value: unknown, { always }: Field): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (always) return false;
  return Array.isArray(value) && value.length === 0;
}
