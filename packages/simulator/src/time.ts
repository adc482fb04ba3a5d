// Instants as the API spells them. Which instant it is comes from the environment's clock, never from here.

/** "2026-01-02T03:04:05Z" of milliseconds since 1970. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** Milliseconds since 1970; undefined if it is no instant. */
export function parseTime(text: unknown): number | undefined {
  const milliseconds = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
