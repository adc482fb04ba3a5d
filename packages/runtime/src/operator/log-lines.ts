// A JSON line as a person likes to read it:
//
//     10:41:02.123 INFO  became leader  lease=apps/gordon identity=gordon-1
//     10:41:09.007 WARN  could not renew the lease; trying again  lease=apps/gordon
//                  TRANSPORT_FAILED: update Lease apps/gordon: connection refused

/** One line, or a few if there is an error with a stack. */
export function readableLine(json: string): string {
  const { level, ts, logger: _logger, msg = "", err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const time = String(ts).slice(11, 23);
  const words = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const head = `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${words.length > 0 ? `  ${words.join(" ")}` : ""}`;
  return `${[head, ...errorLines(err)].join("\n")}\n`;
}

function errorLines(error: unknown): readonly string[] {
  if (error === undefined) return [];
  const { type, code, message, stack, cause } = error as Record<string, unknown>;
  const lines = stack === undefined ? [`${code ?? type}: ${message}`] : String(stack).split("\n");
  const indented = lines.map((line) => `${" ".repeat(13)}${line}`);
  return [...indented, ...errorLines(cause)];
}

/** Quoted only where a space would make it ambiguous. */
function plain(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value) ?? "undefined";
}
