// A list in JSON, object by object. `JSON.parse` is the fastest parser there is and wants whole texts, so the only question
// is where an object ends; and that can be found without looking at every byte:
//
//     {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":…},{"metadata":…}]}
//
// The objects of a list are written alike, so the next one begins as the first one did. `},{"metadata":` cannot be part of a
// string (its quotes would be escaped there), but may be part of an object (the claims in a StatefulSet). So the text up to
// there is tried: the beginning of an object is never an object, hence what parses is one. The last object, and whatever
// is written otherwise (with blanks, in another order), is left for the end and parsed together with the frame of the list.
import { Bytes } from "./bytes.ts";
import { BrokenListError, type ListEnd, type ListReader } from "./list-reader.ts";

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

  push(chunk: Uint8Array): void {
    const before = this.#bytes.start;
    this.#bytes.push(chunk);
    this.#searched -= before - this.#bytes.start; // it may have been moved
  }

  next(): object | undefined {
    if (!this.#atObjects()) return undefined;
    const bytes = this.#bytes;
    for (;;) {
      const end = this.#nextEnd();
      if (end === undefined) return undefined;
      const object = parsed(bytes.text(bytes.start, end + 1));
      this.#searched = end + 1;
      if (object === undefined) continue;
      bytes.start = end + 2; // behind the comma
      return object;
    }
  }

  finish(): ListEnd {
    const rest = this.#bytes.text(this.#bytes.start, this.#bytes.end);
    const list = parsed((this.#head ?? "") + rest) as Partial<{ items: object[]; metadata: { resourceVersion?: string } }>;
    const cut = this.#head !== undefined;
    if (list?.metadata === undefined) throw new BrokenListError(`a whole list, found ${rest.length} characters of none`, { cut });
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
