// A habit of ours that others share: an error that was foreseen carries a stable `code`, and a message that says what to do. The
// system's have one as well (ENOENT, ECONNREFUSED). What Node calls ERR_… is about the program that called it wrongly, and what
// has no code at all was not foreseen by anybody.

export function isForeseen(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && !error.code.startsWith("ERR_");
}
