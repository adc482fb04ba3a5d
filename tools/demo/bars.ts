// Memory usage against the limit, one bar per pod. A pure function of its inputs.
//
//   memhog-7d9f8c-x2x9l  ▕███████████████▌········┊······▏            212 of  384 MiB  55 %  BelowThreshold
//
// All bars share one scale and each bar is as long as its limit, so a raise makes the bar longer. The dotted mark is the threshold.
const MiB = 1024 * 1024;
const maxWidth = 44;
const minWidth = 8;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export interface Bar {
  readonly pod: string;
  /** Bytes; undefined before the first sample. */
  readonly usage: number | undefined;
  readonly limit: number | undefined;
  readonly threshold: number | undefined;
  readonly state: string;
}

export interface BarOptions {
  /** Number of bytes that the full width represents. */
  readonly scale: number;
  readonly columns: number;
  readonly colors: boolean;
}

/** One line per bar, never wider than the terminal: the track shrinks first, then the state is omitted. */
export function barLines(bars: readonly Bar[], { scale, columns, colors }: BarOptions): readonly string[] {
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const names = longest(bars.map(({ pod }) => pod));
  const fixed = 2 + names + 2 + 2 + 1 + usageText({ usage: 0, limit: 0 }).length;
  const states = longest(bars.map(({ state }) => state)) + 2;
  const showStates = columns - fixed - states > minWidth;
  const width = Math.max(minWidth, Math.min(maxWidth, columns - 1 - fixed - (showStates ? states : 0)));
  return bars.map((bar) => {
    const line = `  ${bar.pod.padEnd(names)}  ${track(bar, { scale, width, colors })} ${usageText(bar)}`;
    return showStates ? `${line}  ${bar.state}` : line;
  });
}

interface Track {
  readonly scale: number;
  readonly width: number;
  readonly colors: boolean;
}

function track({ usage = 0, limit = 0, threshold = 0 }: Bar, { scale, width, colors }: Track): string {
  const cells = (bytes: number) => Math.max(0, Math.min(width, (bytes / scale) * width));
  const end = Math.round(cells(limit));
  const full = Math.min(cells(usage), end);
  const mark = Math.min(Math.round(cells(threshold)), end - 1);
  const used = "█".repeat(Math.floor(full)) + (eighths[Math.floor((full % 1) * 8)] ?? "");
  const free = Array.from({ length: Math.max(0, end - used.length) }, (_, at) => (at + used.length === mark ? "┊" : "·"));
  const color = usage >= threshold && threshold > 0 ? 33 : 34;
  const shown = colors ? `\u001b[${color}m${used}\u001b[0m` : used;
  return `▕${shown}${free.join("")}▏${" ".repeat(Math.max(0, width - end))}`;
}

function usageText({ usage, limit }: Pick<Bar, "usage" | "limit">): string {
  const mib = (bytes: number | undefined) => (bytes === undefined ? "–" : String(Math.round(bytes / MiB))).padStart(4);
  const share = usage === undefined || !limit ? "" : `${Math.round((usage / limit) * 100)} %`;
  return `${mib(usage)} of ${mib(limit)} MiB ${share.padStart(5)}`;
}
