// An object from protobuf, equal to what JSON would have said: times as text, bytes in base64, quantities as they are
// written, embedded structs dissolved, zeros left out where Go leaves them out. The objects in it are unread (unread.ts).
import type { Field, Struct } from "./structs.ts";
import { Reader, unread, unreadList } from "./unread.ts";
import { type Cursor, type Page, readSigned, readUnsigned, skipValue, wireType } from "./wire.ts";

type Parts = Record<string, unknown>;

/**
 * Reads the message between the cursor and `end` into an object.
 *
 * @param behind The object is behind a reader: what is unread in it may be a reader, too.
 */
export function readMessage(cursor: Cursor, end: number, struct: Struct, object: Parts = {}, behind = false): Parts {
  let list: Field | undefined; // the messages of a list are written one after the other: the first one begins it
  while (cursor.at < end) {
    const at = cursor.at;
    const tag = readUnsigned(cursor);
    const field = struct.fields[tag >>> 3];
    if (field === undefined || field === list) skipValue(cursor, tag & 7);
    else if (field.form === "list" && field.struct !== undefined) {
      list = field;
      const reader = new UnreadList(cursor, at, end, field.struct);
      object[field.name] ??= behind ? reader : unreadList(reader);
      skipValue(cursor, tag & 7);
    } else readField(cursor, tag & 7, field, object, behind);
  }
  for (const name of struct.nullable) object[name] ??= null;
  return object;
}

function readField(cursor: Cursor, wire: number, field: Field, object: Parts, behind: boolean): void {
  const { form, name } = field;
  if (form === "one") {
    const value = readValue(cursor, wire, field, behind && !field.omitEmpty);
    if (isKept(value, field)) object[name] = value;
  } else if (form === "list") {
    const list = object[name];
    const value = readValue(cursor, wire, field);
    if (Array.isArray(list)) list.push(value);
    else object[name] = [value];
  } else if (form === "map") {
    object[name] ??= {};
    readEntry(cursor, field, object[name] as Parts);
  } else readEmbedded(cursor, field, object, behind);
}

/** Go leaves zeros out, but never structs, unless it was told to. */
function isKept(value: unknown, { omitZero, omitEmpty }: Field): boolean {
  if (omitZero && (value === "" || value === 0 || value === false)) return false;
  if (!omitEmpty) return true;
  if (typeof value !== "object" || value === null) return value !== null;
  for (const _ in value) return true;
  return false;
}

function readEmbedded(cursor: Cursor, { struct }: Field, object: Parts, behind: boolean): void {
  const length = readUnsigned(cursor);
  const end = cursor.at + length;
  if (struct === undefined) cursor.at = end;
  else readMessage(cursor, end, struct, object, behind);
}

/** An entry of a map is a message of two: key and value. */
function readEntry(cursor: Cursor, field: Field, map: Parts): void {
  const length = readUnsigned(cursor);
  const end = cursor.at + length;
  let key = "";
  let value: unknown;
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    if (tag >>> 3 === 1) key = readText(cursor);
    else value = readValue(cursor, tag & 7, field);
  }
  if (key !== "__proto__") map[key] = value ?? "";
  else Object.defineProperty(map, key, { value: value ?? "", enumerable: true, writable: true, configurable: true });
}

function readText(cursor: Cursor): string {
  const length = readUnsigned(cursor);
  const start = cursor.at;
  cursor.at = start + length;
  return cursor.page.recent.text(cursor.buffer, start, cursor.at);
}

function readValue(cursor: Cursor, wire: number, { type, struct }: Field, behind = false): unknown {
  if (type === "string") return readText(cursor);
  if (wire === wireType.varint) return type === "bool" ? readUnsigned(cursor) !== 0 : readSigned(cursor);
  if (wire !== wireType.bytes) return readFixed(cursor, wire);
  const length = readUnsigned(cursor);
  const end = cursor.at + length;
  if (struct?.alwaysRead) return readMessage(cursor, end, struct);
  const value = struct === undefined ? readSpecial(cursor, end, type) : new UnreadMessage(cursor, cursor.at, end, struct);
  cursor.at = end;
  return value instanceof UnreadMessage && !behind ? unread(value) : value;
}

/** Bytes that nobody has looked at. */
abstract class UnreadBytes<T extends object> extends Reader<T> {
  readonly #page: Page;
  readonly #at: number;
  protected readonly end: number;
  protected readonly struct: Struct;

  constructor({ page }: Cursor, at: number, end: number, struct: Struct) {
    super();
    this.#page = page;
    this.#at = at;
    this.end = end;
    this.struct = struct;
  }

  /** At their beginning. */
  protected cursor(): Cursor {
    if (this.#page.turned) throw new LateReaderError();
    return { buffer: this.#page.buffer, page: this.#page, at: this.#at };
  }
}

class UnreadMessage extends UnreadBytes<Parts> {
  protected fill(object: Parts): void {
    readMessage(this.cursor(), this.end, this.struct, object, true);
  }

  open(): Parts {
    return unread(this);
  }
}

/** A list of messages: from the tag of the first to the end of all that could belong to it. */
class UnreadList extends UnreadBytes<unknown[]> {
  protected fill(list: unknown[]): void {
    const cursor = this.cursor();
    const own = readUnsigned(cursor);
    for (let tag = own; ; tag = readUnsigned(cursor)) {
      if (tag !== own) skipValue(cursor, tag & 7);
      else {
        const end = readUnsigned(cursor) + cursor.at;
        list.push(unread(new UnreadMessage(cursor, cursor.at, end, this.struct)));
        cursor.at = end;
      }
      if (cursor.at >= this.end) return;
    }
  }

  open(): unknown[] {
    const list: unknown[] = [];
    this.fill(list);
    return list;
  }
}

/** Its bytes have been overwritten by those of the next object. */
class LateReaderError extends Error {
  override readonly name = "LateReaderError";

  constructor() {
    super("expected a projection to read what it wants at once, found it reading later → keep parts of the object, not itself");
  }
}

function readFixed(cursor: Cursor, wire: number): number {
  const { buffer, at } = cursor;
  skipValue(cursor, wire);
  return wire === wireType.fixed64 ? buffer.readDoubleLE(at) : buffer.readFloatLE(at);
}

function readSpecial(cursor: Cursor, end: number, type: string): unknown {
  if (type === "bytes") return cursor.buffer.toString("base64", cursor.at, end);
  const { first, second, third } = readSmall(cursor, end);
  if (type === "quantity") return first ?? "0";
  if (type === "time") return timeOf(cursor, first, second, 0);
  if (type === "microtime") return timeOf(cursor, first, second, 6);
  if (type === "any") return JSON.parse(String(first || "null"));
  if (type === "int-or-string") return first === 1 ? (third ?? "") : (second ?? 0);
  return undefined;
}

type Small = number | string | undefined;

/** A little message that stands for a value: its first three fields, which are numbers and texts. */
function readSmall(cursor: Cursor, end: number) {
  let first: Small;
  let second: Small;
  let third: Small;
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    const value = (tag & 7) === wireType.varint ? readSigned(cursor) : readText(cursor);
    if (tag >>> 3 === 1) first = value;
    else if (tag >>> 3 === 2) second = value;
    else if (tag >>> 3 === 3) third = value;
  }
  return { first, second, third };
}

/** Seconds and nanoseconds since 1970; nothing at all is no time. */
function timeOf({ page }: Cursor, seconds: Small, nanoseconds: Small, digits: number): string | null {
  if (seconds === undefined && nanoseconds === undefined) return null;
  const second = page.recent.second(Number(seconds ?? 0));
  if (digits === 0) return second;
  const fraction = String(nanoseconds ?? 0)
    .padStart(9, "0")
    .slice(0, digits);
  return `${second.slice(0, -1)}.${fraction}Z`;
}
