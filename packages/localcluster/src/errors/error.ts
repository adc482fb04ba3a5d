// What every error of this package has in common.

/** The parent of them all: `error instanceof LocalClusterError` means that the message is fit for a person. */
export class LocalClusterError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The innermost reason: Node's fetch says only "fetch failed" and hides the rest in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

/** One item a line; further lines of an item are indented below it. */
export function list(items: readonly string[]): string {
  return items.map((item) => `  - ${item.replaceAll("\n", "\n    ")}`).join("\n");
}
