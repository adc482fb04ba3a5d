// The memory itself. The hog must hold what it says, no more and no less, so none of it may be garbage that waits for a collector,
// nor holes in malloc's heap that nobody gets back (buffers replaced by buffers came to 135 MiB more than was held).
// Hence one resizable ArrayBuffer: V8 reserves addresses for all that it may ever become, which costs nothing, and
// asks the kernel for pages as it grows; as it shrinks, they go back at once. None of it is in V8's heap.
import { NoMemoryError } from "./errors.ts";
import { inMebibytes } from "./quantity.ts";

/** Addresses, not memory: more than any machine has that this runs on. */
const reserved = 2 ** 40;

export class Memory {
  readonly #region: ArrayBuffer;

  constructor() {
    this.#region = orRefusal(reserved, () => new ArrayBuffer(0, { maxByteLength: reserved }));
  }

  get held(): number {
    return this.#region.byteLength;
  }

  /** Holds so many bytes from now on, all of them resident. */
  hold(bytes: number): void {
    const before = this.held;
    orRefusal(bytes, () => this.#region.resize(bytes));
    // A page that nobody has written to is a promise of the kernel's, not memory.
    if (bytes > before) new Uint8Array(this.#region, before, bytes - before).fill(1);
  }
}

function orRefusal<T>(bytes: number, take: () => T): T {
  try {
    return take();
  } catch (error) {
    if (error instanceof RangeError) throw new NoMemoryError(inMebibytes(bytes), { cause: error });
    throw error;
  }
}
