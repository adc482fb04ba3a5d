// What reads a list while it comes in, whatever it is written in.

export interface ListReader {
  push(chunk: Uint8Array): void;
  /** The next object that is there as a whole; undefined: not yet. What is unread of it (unread.ts) is so until the next call. */
  next(): object | undefined;
  /** There will be no more bytes. @throws BrokenListError if there should be */
  finish(): ListEnd;
}

export interface ListEnd {
  /** Objects that could be told apart only now. */
  readonly items: readonly object[];
  /** The version that the list is of. */
  readonly resourceVersion: string;
}

/** The bytes are not a list, or not a whole one. The text itself is never quoted: it may be a Secret. */
export class BrokenListError extends Error {
  override readonly name = "BrokenListError";
  /** It looked like a list before it ended. */
  readonly cut: boolean;

  constructor(message: string, { cut = false } = {}) {
    super(message);
    this.cut = cut;
  }
}
