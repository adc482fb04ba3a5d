// Decodes protobuf request bodies. kubectl and most Go clients send built-in kinds as protobuf and accept JSON responses. Field
// numbers come from the structs in kinds/.
import { isObject, type JsonObject } from "../json.ts";
import { structNameOf, wireFieldsOf } from "../kinds/structs.ts";
import { badRequest } from "./status-error.ts";

export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = Buffer.from("k8s\0");

/** Decodes the object in a request body. Returns undefined if the kind is unknown or the bytes contain no object. @throws StatusError */
export function objectInProtobuf(bytes: Buffer): JsonObject | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic)) return undefined;
  const envelope = fieldsIn(bytes.subarray(magic.length));
  const [type = Buffer.alloc(0), raw = Buffer.alloc(0)] = [bytesAt(envelope, 1), bytesAt(envelope, 2)];
  const [apiVersion = "", kind = ""] = [1, 2].map((number) => bytesAt(fieldsIn(type), number)?.toString() ?? "");
  const struct = structOf(apiVersion, kind);
  return struct === undefined ? undefined : { apiVersion, kind, ...messageIn(raw, struct) };
}

function structOf(apiVersion: string, kind: string): string | undefined {
  const [first = "", second] = apiVersion.split("/");
  const type = second === undefined ? { group: "", version: first } : { group: first, version: second };
  const name = kind === "DeleteOptions" ? "meta.v1.DeleteOptions" : structNameOf({ ...type, kind });
  return wireFieldsOf(name) === undefined ? undefined : name;
}

/** A varint or length-delimited bytes. */
interface Wire {
  readonly number: number;
  readonly value: bigint | Buffer;
}

function fieldsIn(bytes: Buffer): readonly Wire[] {
  const fields: Wire[] = [];
  let at = 0;
  const varint = (): bigint => {
    // A varint has at most ten bytes. Without this limit a long one would take quadratic time.
    for (let shift = 0n, value = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw badRequest("unexpected EOF");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw badRequest("proto: integer overflow");
  };
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw badRequest("unexpected EOF");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const value = kind === 0 ? varint() : take(kind === 2 ? Number(varint()) : kind === 1 ? 8 : 4);
    fields.push({ number: tag >>> 3, value });
  }
  return fields;
}

function bytesAt(fields: readonly Wire[], number: number): Buffer | undefined {
  const found = fields.findLast((field) => field.number === number)?.value;
  return Buffer.isBuffer(found) ? found : undefined;
}

function numberAt(fields: readonly Wire[], number: number): number {
  const found = fields.findLast((field) => field.number === number)?.value;
  return typeof found === "bigint" ? Number(BigInt.asIntN(64, found)) : 0;
}

function messageIn(bytes: Buffer, struct: string): JsonObject {
  const known = wireFieldsOf(struct);
  const object: JsonObject = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = known?.get(number);
    if (field === undefined) continue;
    if (field.embedded) Object.assign(object, decoded(value, field.type));
    else add(object, field.name, field.type, value);
  }
  return object;
}

/** Adds one element of a list or map, or sets a scalar field. */
function add(object: JsonObject, name: string, type: string, value: Wire["value"]): void {
  if (type.startsWith("[]")) {
    const list: unknown[] = Array.isArray(object[name]) ? object[name] : [];
    list.push(decoded(value, type.slice(2).replace(/^\*/, "")));
    object[name] = list;
  } else if (type.startsWith("{}")) {
    const entry = Buffer.isBuffer(value) ? fieldsIn(value) : [];
    const key = bytesAt(entry, 1)?.toString() ?? "";
    const inner = entry.find((field) => field.number === 2)?.value ?? Buffer.alloc(0);
    const map = isObject(object[name]) ? object[name] : {};
    // Not an assignment, because a key can be __proto__.
    Object.defineProperty(map, key, {
      ...{ value: decoded(inner, type.slice(2)), enumerable: true, writable: true, configurable: true },
    });
    object[name] = map;
  } else {
    object[name] = decoded(value, type);
  }
}

function decoded(value: Wire["value"], type: string): unknown {
  if (typeof value === "bigint") return type === "bool" ? value !== 0n : Number(BigInt.asIntN(64, value));
  const read = readers[type];
  if (read !== undefined) return read(value);
  // Protobuf wraps a list inside a map in a message.
  if (type.startsWith("[]")) return fieldsIn(value).map((item) => decoded(item.value, type.slice(2)));
  return messageIn(value, type);
}

const readers: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  string: (bytes) => bytes.toString(),
  bytes: (bytes) => bytes.toString("base64"),
  float64: (bytes) => bytes.readDoubleLE(),
  quantity: (bytes) => bytesAt(fieldsIn(bytes), 1)?.toString() ?? "0",
  "int-or-string": intOrString,
  time: (bytes) => timeIn(bytes, 0),
  microtime: (bytes) => timeIn(bytes, 6),
  any: (bytes) => JSON.parse(bytesAt(fieldsIn(bytes), 1)?.toString() || "null"),
};

function intOrString(bytes: Buffer): unknown {
  const fields = fieldsIn(bytes);
  return numberAt(fields, 1) === 1 ? (bytesAt(fields, 3)?.toString() ?? "") : numberAt(fields, 2);
}

/** Decodes seconds and nanoseconds since 1970. Empty bytes mean null. */
function timeIn(bytes: Buffer, digits: number): string | null {
  if (bytes.length === 0) return null;
  const fields = fieldsIn(bytes);
  const whole = new Date(numberAt(fields, 1) * 1000).toISOString().slice(0, 19);
  const fraction = String(numberAt(fields, 2)).padStart(9, "0").slice(0, digits);
  return `${whole}${digits === 0 ? "" : `.${fraction}`}Z`;
}
