// Instants as the API server spells them. Two spellings: seconds for nearly everything, microseconds for Leases and
// Events; the server refuses fractions in the former and cuts them off in some versions of the latter.

/** "2026-01-02T03:04:05Z", as `metav1.Time`. Takes milliseconds since 1970; fractions of a second are cut off. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** "2026-01-02T03:04:05.678000Z", as `metav1.MicroTime`. */
export function formatMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/Z$/, "000Z");
}

/** Milliseconds since 1970 of an instant the API server sent; undefined if there is none or it is not one. */
export function parseTime(text: string | null | undefined): number | undefined {
  const milliseconds = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
