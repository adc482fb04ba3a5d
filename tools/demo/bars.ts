// Memory against the limit, as a moving bar per pod. Pure: what is drawn depends on what is given and nothing else.
//
//   memhog-7d9f8c-x2x9l  ▕███████████████▌········┊······▏                        212 of  384 MiB  55 %
//
// The bar is as long as the limit, on a scale that all bars share; so when a limit grows, its bar does.
const width = 44;
const MiB = 1024 * 1024;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export interface Bar {
  readonly pod: string;
  /** Bytes; undefined while nothing is known. */
  readonly usage: number | undefined;
  readonly limit: number | undefined;
  readonly threshold: number | undefined;
  readonly remark: string;
}

/** @param scale The bytes that the whole width stands for. */
export function barLines(bars: readonly Bar[], scale: number, colours: boolean): readonly string[] {
  const longest = Math.max(0, ...bars.map(({ pod }) => pod.length));
  return bars.map((bar) => `  ${bar.pod.padEnd(longest)}  ${track(bar, scale, colours)} ${numbers(bar)}  ${bar.remark}`);
}

function track({ usage = 0, limit = 0, threshold = 0 }: Bar, scale: number, colours: boolean): string {
  const cells = (bytes: number) => Math.max(0, Math.min(width, (bytes / scale) * width));
  const end = Math.round(cells(limit));
  const full = Math.min(cells(usage), end);
  const mark = Math.min(Math.round(cells(threshold)), end - 1);
  const used = "█".repeat(Math.floor(full)) + (eighths[Math.floor((full % 1) * 8)] ?? "");
  const rest = Array.from({ length: Math.max(0, end - used.length) }, (_, at) => (at + used.length === mark ? "┊" : "·")).join(
    "",
  );
  const room = " ".repeat(Math.max(0, width - end));
  const colour = usage >= threshold && threshold > 0 ? 33 : 34;
  return `▕${colours ? `\u001b[${colour}m${used}\u001b[0m` : used}${rest}▏${room}`;
}

function numbers({ usage, limit }: Bar): string {
  const mib = (bytes: number | undefined) => (bytes === undefined ? "–" : String(Math.round(bytes / MiB))).padStart(4);
  const share = usage === undefined || !limit ? "" : `${Math.round((usage / limit) * 100)} %`;
  return `${mib(usage)} of ${mib(limit)} MiB ${share.padStart(5)}`;
}
