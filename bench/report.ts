// Reports benchmark results with their conditions, as a table for people or as one JSON array for scripts.
import { cpus, totalmem } from "node:os";

/** One measurement. The ratio to its peers in the same run is more meaningful than the absolute number. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** The same measurement of other runtimes in the same run. */
  readonly peers: Readonly<Record<string, number>>;
  /** The goal as text ("≤ 20", "≥ 4 × client-node"); absent if there is none. */
  readonly goal?: string;
  readonly holds?: boolean;
}

/** The conditions of the measurement. */
export function conditions(extra: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    node: process.version,
    machine: `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}/${process.arch}`,
    ...extra,
  };
}

/** Prints the measurements: one JSON array with `--json`, otherwise a table below its conditions. */
export function report(title: string, figures: readonly Figure[], where = conditions()): void {
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify(figures));
    return;
  }
  const peers = [...new Set(figures.flatMap((figure) => Object.keys(figure.peers)))];
  const header = ["", "unit", "ours", ...peers, "goal", "holds"];
  const rows = figures.map((figure) => [
    figure.name,
    figure.unit,
    round(figure.ours),
    ...peers.map((peer) => round(figure.peers[peer])),
    figure.goal ?? "",
    figure.holds === undefined ? "" : figure.holds ? "yes" : "NO",
  ]);
  console.log(`## ${title}\n`);
  for (const [name, value] of Object.entries(where)) console.log(`- ${name}: ${value}`);
  printTable({ header, rows });
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Prints in the format that the formatter uses in docs/. */
export function printTable({ header, rows }: Table): void {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  console.log(`\n${line(header)}\n${line(widths.map((width) => "-".repeat(width)))}`);
  for (const row of rows) console.log(line(row));
}

/** The value below which this share of the samples is (0.5 = median). */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function round(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
