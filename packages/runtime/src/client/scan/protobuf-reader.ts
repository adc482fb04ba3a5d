// A list in protobuf, object by object. Around it is an envelope that says what it is; its field 2 is the list, whose
// field 1 is the metadata and whose fields 2 are the objects:
//
//     k8s\0  1: {apiVersion, kind}  2: ( 1: {2: resourceVersion}  2: object  2: object … )  3, 4: nothing
import type { Kind } from "../../objects/object.ts";
import { protobufStart as magic } from "../transport/transport.ts";
import { Bytes } from "./bytes.ts";
import { BrokenListError, type ListEnd, type ListReader } from "./list-reader.ts";
import { readMessage } from "./protobuf-object.ts";
import { Recent } from "./recent.ts";
import { type Struct, structBook } from "./structs.ts";
import { type Cursor, type Page, readUnsigned, skipValue, wireType } from "./wire.ts";

/** The claims in it have a kind and a version of their own, which protobuf leaves out and JSON does not. */
const saysLessThanJson = new Set(["apps.v1.StatefulSet"]);

export interface Protobuf {
  readonly mediaType: string;
  /** Whether the answer that begins so is written in it: servers that cannot say it in JSON. */
  isProtobuf(start: Uint8Array): boolean;
  reader(): ListReader;
}

/** Undefined for kinds of which only JSON is known. */
export function protobufOf({ group, version, kind }: Kind): Protobuf | undefined {
  const name = `${group.split(".")[0] || "core"}.${version}.${kind}`;
  const struct = saysLessThanJson.has(name) ? undefined : structBook()(name);
  // A custom resource may be called like a built-in kind, but not in a group of Kubernetes' own.
  if (struct === undefined || !(group === "" || !group.includes(".") || group.endsWith(".k8s.io"))) return undefined;
  return {
    mediaType: "application/vnd.kubernetes.protobuf",
    isProtobuf: (start) => Buffer.from(start.subarray(0, 1)).toString() === magic[0],
    reader: () => new ProtobufListReader(struct),
  };
}

export class ProtobufListReader implements ListReader {
  readonly #struct: Struct;
  readonly #bytes = new Bytes();
  #metadata: Readonly<Record<number, string>> = {};
  /** What the envelope says is in it. */
  #kind = "";
  #begun = false;
  /** Bytes of the list that are unread; undefined: still in the envelope, before it. */
  #left: number | undefined;
  /** Of the object that was read last. */
  #page: Page = { buffer: this.#bytes.buffer, turned: false, recent: new Recent() };

  constructor(struct: Struct) {
    this.#struct = struct;
  }

  push(chunk: Uint8Array): void {
    this.#page.turned = true;
    this.#bytes.push(chunk);
  }

  next(): object | undefined {
    this.#page.turned = true;
    this.#page = { buffer: this.#bytes.buffer, turned: false, recent: this.#page.recent };
    if (this.#left === undefined && !this.#openEnvelope()) return undefined;
    for (;;) {
      const field = this.#wholeField();
      if (field === undefined) return undefined;
      const { cursor, end, number } = field;
      this.#left = (this.#left ?? 0) - (end - this.#bytes.start);
      this.#bytes.start = end;
      if (number === 2) return readMessage(cursor, end, this.#struct);
      if (number === 1) this.#metadata = textsIn(cursor, end);
    }
  }

  finish(): ListEnd {
    if (this.#left !== 0) throw new BrokenListError(`the whole list, found ${this.#left ?? "all"} bytes missing`, { cut: true });
    return { items: [], resourceVersion: this.#metadata[2] ?? "" };
  }

  /** Up to the first byte of the list. False: not there yet. */
  #openEnvelope(): boolean {
    const bytes = this.#bytes;
    if (!this.#begun) {
      if (bytes.end - bytes.start < magic.length) return false;
      if (bytes.text(bytes.start, bytes.start + magic.length) !== magic)
        throw new BrokenListError("protobuf, found something else");
      bytes.start += magic.length;
      this.#begun = true;
    }
    while (bytes.start < bytes.end) {
      const cursor: Cursor = { buffer: bytes.buffer, page: this.#page, at: bytes.start };
      const tag = readUnsigned(cursor);
      const isList = tag >>> 3 === 2;
      const length = isList ? readUnsigned(cursor) : 0;
      if (!isList) skipValue(cursor, tag & 7);
      if (cursor.at > bytes.end) return false; // what was read behind the end is not there yet, and means nothing
      if (tag >>> 3 === 1) this.#readType(cursor.at);
      bytes.start = cursor.at;
      if (!isList) continue;
      // Every message has fields 1 and 2: another one would pass for a list, and be an empty one.
      if (!this.#kind.endsWith("List"))
        throw new BrokenListError(`a list, found ${this.#kind || "what does not say what it is"}`);
      this.#left = length;
      return true;
    }
    return false;
  }

  /** The next field of the list, if all of it is there; the cursor is at its content. */
  #wholeField(): { readonly cursor: Cursor; readonly end: number; readonly number: number } | undefined {
    const { buffer, start, end } = this.#bytes;
    if (this.#left === 0 || start === end) return undefined;
    const cursor: Cursor = { buffer, page: this.#page, at: start };
    const tag = readUnsigned(cursor);
    const length = readUnsigned(cursor);
    if (cursor.at > end) return undefined;
    if ((tag & 7) !== wireType.bytes) throw new BrokenListError(`a list, found a field ${tag >>> 3} that lists do not have`);
    return cursor.at + length > end ? undefined : { cursor, end: cursor.at + length, number: tag >>> 3 };
  }

  /** The first field of the envelope: {1: apiVersion, 2: kind}. */
  #readType(end: number): void {
    const cursor: Cursor = { buffer: this.#bytes.buffer, page: this.#page, at: this.#bytes.start };
    readUnsigned(cursor); // its tag
    readUnsigned(cursor); // its length
    this.#kind = textsIn(cursor, end)[2] ?? "";
  }
}

/** The texts of a message, by number. */
function textsIn(cursor: Cursor, end: number): Record<number, string> {
  const texts: Record<number, string> = {};
  while (cursor.at < end) {
    const tag = readUnsigned(cursor);
    const start = cursor.at;
    skipValue(cursor, tag & 7);
    if ((tag & 7) !== wireType.bytes) continue;
    const value: Cursor = { ...cursor, at: start };
    const length = readUnsigned(value);
    texts[tag >>> 3] = cursor.buffer.toString("utf8", value.at, value.at + length);
  }
  return texts;
}
