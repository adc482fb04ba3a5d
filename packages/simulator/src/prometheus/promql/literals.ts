// Numbers, durations and strings as PromQL writes them.

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** "1h30m", "5m", "100ms": milliseconds; undefined if it is none. */
export function parsePromDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(\d+(ms|[smhdwy]))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)(ms|[smhdwy])/g)].reduce((sum, [, n, unit = ""]) => sum + Number(n) * (unitMs[unit] ?? 0), 0);
}

/** A number; also a duration, which newer versions take for so many seconds. */
export function parseNumber(text: string): number {
  const plain = text.replaceAll("_", "");
  if (/^[+-]?inf$/i.test(plain)) return plain.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^[+-]?nan$/i.test(plain)) return Number.NaN;
  const [, sign = "", rest = ""] = /^([+-]?)\s*(.*)$/.exec(plain) ?? [];
  const duration = /^\d+(\.\d+)?$/.test(rest) ? undefined : parsePromDuration(rest);
  const value = duration === undefined ? Number(rest) : duration / 1_000;
  return sign === "-" ? -value : value;
}

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** "…" and '…' with Go's escapes, `…` without any; undefined if it has no end. */
export function parseString(text: string): string | undefined {
  const quote = text[0] ?? "";
  if (text.length < 2 || !text.endsWith(quote)) return undefined;
  const inside = text.slice(1, -1);
  if (quote === "`") return inside;
  return inside.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/g, (_, code: string) => {
    if (/^[xuU]/.test(code)) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]{3}$/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
    return escapes[code] ?? code;
  });
}
