// What an object looks like after Go has read and written it. Built-in kinds are structs on the real server: a field that
// the struct does not have is dropped (and told), one of the wrong type makes the request unreadable, a null is a field that
// was not sent, most empty values are not written at all, and a quantity comes back in its canonical spelling. Clients
// compare what they sent with what they got, so all of this can be told.
import { parseQuantity } from "@memhog/runtime";
import { type Draft, isObject, type JsonObject } from "../json.ts";
import { parseTime } from "../time.ts";
import { fieldTable } from "./generated/field-table.ts";

interface Field {
  readonly type: string;
  /** Written even if it is empty. */
  readonly always: boolean;
}

type Fields = ReadonlyMap<string, Field>;

const types: ReadonlyMap<string, Fields> = new Map(
  Object.entries(fieldTable).map(([name, line]) => [name, new Map(line.split(" ").filter(Boolean).map(fieldOf))]),
);

function fieldOf(text: string): readonly [string, Field] {
  const colon = text.lastIndexOf(":");
  const name = text.slice(0, colon);
  return [name.replace(/!$/, ""), { type: text.slice(colon + 1), always: name.endsWith("!") }];
}

/** The object is not of the shape that its kind has; the message is Go's. */
export class ShapeError extends Error {
  readonly code = "OBJECT_SHAPE";
  override readonly name = "ShapeError";
}

/** Numbers and switches that are written only if they are not zero; others are pointers in Go, and zero is a value. */
const omittedZeros = new Set(
  [
    "minReadySeconds initialDelaySeconds hostNetwork hostPID hostIPC stdin stdinOnce tty readOnly unschedulable paused",
    "publishNotReadyAddresses observedGeneration readyReplicas availableReplicas updatedReplicas unavailableReplicas",
    "fullyLabeledReplicas currentReplicas updatedNumberScheduled numberAvailable numberUnavailable active succeeded failed",
    "globalDefault nodePort hostPort signal generation count",
  ].flatMap((line) => line.split(" ")),
);

/** Texts that are pointers in Go: empty is a value, and not the same as none. */
const keptEmpty = new Set(["storageClassName", "holderIdentity", "ingressClassName", "volumeAttributesClassName"]);

/** Gives a draft the shape of its type; the names of fields that it does not have. @throws ShapeError */
export function shape(draft: Draft, typeName: string): readonly string[] {
  const unknown: string[] = [];
  new Shaper(unknown).object(draft, typeName, { json: "", shown: "" });
  return unknown;
}

/** The same for metadata alone: of custom resources it is all that Go knows. @throws ShapeError */
export function shapeMetadata({ metadata }: Draft): readonly string[] {
  const unknown: string[] = [];
  new Shaper(unknown).object(metadata, "meta.v1.ObjectMeta", { json: "", shown: "metadata" });
  return unknown;
}

/** Where we are: as Go's decoder says it ("spec.containers.env"), and as complaints about fields do ("spec.containers[0].env"). */
interface Place {
  readonly json: string;
  readonly shown: string;
}

class Shaper {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  object(object: JsonObject, typeName: string, at: Place): void {
    const fields = types.get(typeName);
    if (fields === undefined) return;
    const struct = typeName.slice(typeName.lastIndexOf(".") + 1);
    for (const name of Object.keys(object)) {
      const field = fields.get(name);
      const place = { json: joined(at.json, name), shown: joined(at.shown, name) };
      if (field === undefined) this.#drop(object, name, place);
      else this.#field(object, name, field, place, struct);
    }
    const always = struct.endsWith("Condition") ? ["time"] : [];
    for (const [name, field] of fields) {
      if (object[name] === undefined && (field.always || always.includes(field.type))) fillZero(object, name, field.type);
    }
  }

  #drop(object: JsonObject, name: string, { shown }: Place): void {
    this.#unknown.push(shown);
    delete object[name];
  }

  #field(object: JsonObject, name: string, { type, always }: Field, at: Place, struct: string): void {
    const value = this.#value(object[name], type, at, struct);
    if (value === undefined || (!always && isLeftOut(name, value, type))) delete object[name];
    else object[name] = value;
  }

  /** The value as Go would write it; undefined for null. */
  #value(value: unknown, type: string, at: Place, struct: string): unknown {
    if (value === null || value === undefined) return undefined;
    if (type.startsWith("[]")) return this.#list(value, type.slice(2), at, struct);
    if (type.startsWith("{}")) return this.#map(value, type.slice(2), at, struct);
    const scalar = scalars[type];
    if (scalar !== undefined) return scalar(value) ?? wrong(value, type, at, struct);
    if (!isObject(value)) throw wrong(value, type, at, struct);
    this.object(value, type, at);
    return value;
  }

  #list(value: unknown, type: string, at: Place, struct: string): unknown {
    if (!Array.isArray(value)) throw wrong(value, `[]${type}`, at, struct);
    return value.map((each, index) => {
      const place = { json: at.json, shown: `${at.shown}[${index}]` };
      return this.#value(each, type, place, struct) ?? emptyOf(type);
    });
  }

  #map(value: unknown, type: string, at: Place, struct: string): unknown {
    if (!isObject(value)) throw wrong(value, `map[string]${type}`, at, struct);
    for (const key of Object.keys(value)) {
      const place = { json: at.json, shown: joined(at.shown, key) };
      value[key] = this.#value(value[key], type, place, struct) ?? emptyOf(type);
    }
    return value;
  }
}

/** Each gives the value back as Go writes it, undefined if it is of another type, or throws what Go would say. */
const scalars: Readonly<Record<string, (value: unknown) => unknown>> = {
  any: (value) => value,
  string: (value) => (typeof value === "string" ? value : undefined),
  bytes: (value) => (typeof value === "string" ? value : undefined),
  time: (value) => (typeof value === "string" ? time(value) : undefined),
  bool: (value) => (typeof value === "boolean" ? value : undefined),
  int32: whole,
  int64: whole,
  float64: (value) => (typeof value === "number" ? value : undefined),
  "int-or-string": (value) => (typeof value === "string" ? value : whole(value)),
  quantity,
};

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

const goTypes: Readonly<Record<string, string>> = { "int-or-string": "int32", "map[string]quantity": "v1.ResourceList" };

/** Throws; declared to give something so that it can stand where a value does. */
function wrong(value: unknown, type: string, { json }: Place, struct: string): never {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const number = typeof value === "number" && !Number.isInteger(value) ? ` ${value}` : "";
  const named = goTypes[type] ?? type.replace(/^(.*[\]}])?(?:\w+\.)*(\w+\.\w+)$/, "$1$2").replace(/\{\}/g, "map[string]");
  throw new ShapeError(`json: cannot unmarshal ${found}${number} into Go struct field ${struct}.${json} of type ${named}`);
}

function isLeftOut(name: string, value: unknown, type: string): boolean {
  if (value === "") return !keptEmpty.has(name);
  if (value === 0 || value === false) return omittedZeros.has(name);
  if (Array.isArray(value)) return value.length === 0;
  return type.startsWith("{}") && isObject(value) && Object.keys(value).length === 0;
}

const zeros: Readonly<Record<string, unknown>> = { string: "", bool: false, int32: 0, int64: 0, time: null };

function fillZero(object: JsonObject, name: string, type: string): void {
  if (type in zeros) object[name] = zeros[type];
}

function emptyOf(type: string): unknown {
  return zeros[type] ?? (type.includes(".") ? {} : "");
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
