// An object from protobuf, equal to what JSON would have said: times as text, bytes in base64, quantities as they are
// written, embedded structs dissolved, zeros left out where Go leaves them out. The objects in it are unread (unread.ts).
import type { Field, Struct, StructBook } from "./structs.ts";
import { unread, unreadList } from "./unread.ts";
import { type Cursor, readSigned, readUnsigned, skipValue, wireType } from "./wire.ts";

type Parts = Record<string, unknown>;

/** Reads the message between the cursor and `end` into an object. */
export function readMessage(cursor: Cursor, end: number, struct: Struct, book: StructBook, object: Parts = {}): Parts {
  let lists: UnreadLists | undefined;
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    const field = struct.fields[tag >>> 3];
    if (field === undefined) skipValue(cursor, tag & 7);
    else if (field.form === "list" && book(field.type) !== undefined) {
      lists ??= new UnreadLists(cursor, book, object);
      lists.add(cursor, field);
    } else readField(cursor, tag & 7, field, book, object);
  }
  for (const name of struct.nullable) object[name] ??= null;
  return object;
}

function readField(cursor: Cursor, wire: number, field: Field, book: StructBook, object: Parts): void {
  const { form, name } = field;
  if (form === "one") {
    const value = readValue(cursor, wire, field.type, book);
    if (isKept(value, field)) object[name] = value;
  } else if (form === "list") {
    const list = object[name];
    const value = readValue(cursor, wire, field.type, book);
    if (Array.isArray(list)) list.push(value);
    else object[name] = [value];
  } else if (form === "map") {
    object[name] ??= {};
    readEntry(cursor, field.type, book, object[name] as Parts);
  } else readEmbedded(cursor, field.type, book, object);
}

/** The lists of messages in one object: of each only where its messages begin and end. A pod has fifty, in ten lists. */
class UnreadLists {
  readonly #page: Omit<Cursor, "at">;
  readonly #book: StructBook;
  readonly #object: Parts;
  readonly #places = new Map<string, number[]>();

  constructor(page: Omit<Cursor, "at">, book: StructBook, object: Parts) {
    this.#page = page;
    this.#book = book;
    this.#object = object;
  }

  /** Another message of the list is here. */
  add(cursor: Cursor, { name, type }: Field): void {
    const length = readUnsigned(cursor);
    const places = this.#places.get(name) ?? this.#begin(name, type);
    places.push(cursor.at, cursor.at + length);
    cursor.at += length;
  }

  #begin(name: string, type: string): number[] {
    const places: number[] = [];
    this.#places.set(name, places);
    this.#object[name] = unreadList((list) => this.#fill(list, places, type));
    return places;
  }

  #fill(list: unknown[], places: readonly number[], type: string): void {
    const struct = this.#book(type);
    const { buffer, page } = this.#page;
    for (let at = 0; struct !== undefined && at < places.length; at += 2)
      list.push(unreadMessage({ buffer, page, at: places[at] ?? 0 }, places[at + 1] ?? 0, struct, this.#book));
  }
}

/** Go leaves zeros out, but never structs, unless it was told to. */
function isKept(value: unknown, { omitZero, omitEmpty }: Field): boolean {
  if (omitZero && (value === "" || value === 0 || value === false)) return false;
  if (!omitEmpty) return true;
  if (typeof value !== "object" || value === null) return value !== null;
  for (const _ in value) return true;
  return false;
}

function readEmbedded(cursor: Cursor, type: string, book: StructBook, object: Parts): void {
  const length = readUnsigned(cursor);
  const end = cursor.at + length;
  const struct = book(type);
  if (struct === undefined) cursor.at = end;
  else readMessage(cursor, end, struct, book, object);
}

/** An entry of a map is a message of two: key and value. */
function readEntry(cursor: Cursor, type: string, book: StructBook, map: Parts): void {
  const length = readUnsigned(cursor);
  const end = cursor.at + length;
  let key = "";
  let value: unknown;
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    if (tag >>> 3 === 1) key = readText(cursor);
    else value = readValue(cursor, tag & 7, type, book);
  }
  map[key] = value ?? "";
}

function readText(cursor: Cursor): string {
  const length = readUnsigned(cursor);
  const start = cursor.at;
  cursor.at = start + length;
  return length === 0 ? "" : cursor.buffer.toString("utf8", start, cursor.at);
}

function readValue(cursor: Cursor, wire: number, type: string, book: StructBook): unknown {
  if (type === "string") return readText(cursor);
  if (wire === wireType.varint) return type === "bool" ? readUnsigned(cursor) !== 0 : readSigned(cursor);
  if (wire !== wireType.bytes) return readFixed(cursor, wire);
  const length = readUnsigned(cursor);
  const start = cursor.at;
  const end = start + length;
  const struct = book(type);
  if (struct?.alwaysRead) return readMessage(cursor, end, struct, book);
  const value = struct === undefined ? readSpecial(cursor, end, type) : unreadMessage(cursor, end, struct, book);
  cursor.at = end;
  return value;
}

function unreadMessage({ buffer, at, page }: Cursor, end: number, struct: Struct, book: StructBook): Parts {
  return unread((object) => {
    if (page.turned) throw new LateReaderError();
    readMessage({ buffer, at, page }, end, struct, book, object);
  });
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
  if (type === "quantity") return fieldsIn(cursor, end)[1] ?? "0";
  if (type === "time") return timeOf(fieldsIn(cursor, end), 0);
  if (type === "microtime") return timeOf(fieldsIn(cursor, end), 6);
  if (type === "any") return JSON.parse(String(fieldsIn(cursor, end)[1] || "null"));
  if (type === "int-or-string") {
    const fields = fieldsIn(cursor, end);
    return fields[1] === 1 ? (fields[3] ?? "") : (fields[2] ?? 0);
  }
  return undefined;
}

/** Numbers and texts by their numbers: the little messages that stand for a value. */
function fieldsIn(cursor: Cursor, end: number): readonly (number | string | undefined)[] {
  const fields: (number | string | undefined)[] = [];
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    fields[tag >>> 3] = (tag & 7) === wireType.varint ? readSigned(cursor) : readText(cursor);
  }
  return fields;
}

/** Seconds and nanoseconds since 1970; nothing at all is no time. */
function timeOf(fields: readonly (number | string | undefined)[], digits: number): string | null {
  if (fields.length === 0) return null;
  const fraction = String(fields[2] ?? 0)
    .padStart(9, "0")
    .slice(0, digits);
  return `${wholeSeconds(Number(fields[1] ?? 0))}${digits === 0 ? "" : `.${fraction}`}Z`;
}

/** What was made together has the same times, and to write one is a tenth of the work on a pod. */
let last = { seconds: Number.NaN, text: "" };

function wholeSeconds(seconds: number): string {
  if (seconds !== last.seconds) last = { seconds, text: new Date(seconds * 1000).toISOString().slice(0, 19) };
  return last.text;
}
