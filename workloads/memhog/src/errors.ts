// What the hog can complain about. All of it is for the person who started it, so the message is the whole story.

export abstract class HogError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A size or a speed that cannot be read. */
export class BadQuantityError extends HogError {
  readonly code = "HOG_BAD_QUANTITY";
  constructor(flag: string, { expected, found }: { readonly expected: string; readonly found: string }) {
    super(`${flag}: expected ${expected}, found ${JSON.stringify(found)}`);
  }
}

/** Flags that do not exist, or make no sense together. */
export class BadFlagsError extends HogError {
  readonly code = "HOG_BAD_FLAGS";
}

/** The machine refused before the kernel had to kill anybody: a ulimit, or strict overcommit. */
export class NoMemoryError extends HogError {
  readonly code = "HOG_NO_MEMORY";
  constructor(mib: string, options: ErrorOptions) {
    super(`expected to hold ${mib}, but the system gives no more (see ulimit -v and vm.overcommit_memory)`, options);
  }
}
