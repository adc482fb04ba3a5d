// A list in JSON, object by object. `JSON.parse` is the fastest parser there is and wants whole texts, so the only question
// is where an object ends; and that can be found without looking at every byte:
//
//     {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":…},{"metadata":…}]}
//
// The objects of a list are written alike, so the next one begins as the first one did. `},{"metadata":` cannot be part of a
// string (its quotes would be escaped there), but may be part of an object (the claims in a StatefulSet). So the text up to
// there is tried: the beginning of an object is never an object, hence what parses is one. It is tried once: an object with
// a thousand owners would be parsed a thousand times. If that was not the end, the end is counted out (json-end.ts). The last
// object, and whatever is written with blanks, is left for the end and parsed together with the frame of the list.
import { isList } from "../answer.ts";
import { Bytes } from "./bytes.ts";
import { JsonEnd } from "./json-end.ts";
import { BrokenListError, type ListEnd, type ListReader } from "./list-reader.ts";

const comma = 0x2c;
const opening = '"items":[';
const firstKey = /^\{"[^"\\]+":/;
/** No first key is longer; enough to see one. */
const keyBytes = 256;

export class JsonListReader implements ListReader {
  readonly #bytes = new Bytes();
  /** The text before the first object; undefined: it has not come yet. */
  #head: string | undefined;
  /** What stands between two objects. */
  #between: string | undefined;
  /** Up to here there is no end of the object that begins at `start`. */
  #searched = 0;
  /** The guess was wrong for the object that begins at `start`. */
  #counted: JsonEnd | undefined;
  /** It has an end, and is no object all the same. */
  #strange = false;

  push(chunk: Uint8Array): void {
    const before = this.#bytes.start;
    this.#bytes.push(chunk);
    this.#searched -= before - this.#bytes.start; // it may have been moved
  }

  next(): object | undefined {
    if (!this.#atObjects()) return undefined;
    return this.#counted === undefined ? this.#guess() : this.#count(this.#counted);
  }

  #guess(): object | undefined {
    const end = this.#nextEnd();
    if (end === undefined) return undefined;
    const object = this.#take(end + 1);
    if (object !== undefined) return object;
    this.#counted = new JsonEnd();
    return this.#count(this.#counted);
  }

  #count(counted: JsonEnd): object | undefined {
    const { buffer, start, end } = this.#bytes;
    const length = counted.find(buffer, start, end);
    // Without a comma it is the last one, or not what we know; what does not parse then is no list, as the end will tell.
    if (length === undefined || start + length >= end || buffer[start + length] !== comma || this.#strange) return undefined;
    const object = this.#take(start + length);
    if (object === undefined) this.#strange = true;
    else this.#counted = undefined;
    return object;
  }

  /** The object from `start` to there, if it is one; the next one begins behind the comma. */
  #take(to: number): object | undefined {
    const bytes = this.#bytes;
    const object = parsed(bytes.text(bytes.start, to));
    if (object === undefined) return undefined;
    bytes.start = to + 1;
    this.#searched = bytes.start;
    return object;
  }

  finish(): ListEnd {
    const rest = this.#bytes.text(this.#bytes.start, this.#bytes.end);
    const list = parsed((this.#head ?? "") + rest);
    const cut = this.#head !== undefined;
    if (!isList(list)) throw new BrokenListError(`a whole list, found ${rest.length} characters of none`, { cut });
    return { items: list.items ?? [], resourceVersion: list.metadata.resourceVersion ?? "" };
  }

  /** The frame has been read, and how objects begin is known. */
  #atObjects(): boolean {
    if (this.#between !== undefined) return true;
    const bytes = this.#bytes;
    if (this.#head === undefined) {
      const at = bytes.buffer.subarray(0, bytes.end).indexOf(opening, bytes.start);
      if (at === -1) return false;
      this.#head = bytes.text(bytes.start, at + opening.length);
      bytes.start = at + opening.length;
      this.#searched = bytes.start;
    }
    const key = firstKey.exec(bytes.text(bytes.start, Math.min(bytes.start + keyBytes, bytes.end)))?.[0];
    if (key !== undefined) this.#between = `},${key}`;
    return key !== undefined;
  }

  /** Where the object ends that begins at `start`, if that is an end at all. */
  #nextEnd(): number | undefined {
    const { buffer, start, end } = this.#bytes;
    const between = this.#between ?? "";
    const at = buffer.subarray(0, end).indexOf(between, Math.max(start, this.#searched));
    if (at !== -1) return at;
    this.#searched = Math.max(start, end - between.length); // half of it may have come
    return undefined;
  }
}

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
