// Generates docs/reference from the values that the program uses: kinds, flags, reasons, metrics, Events and alerts.
import { type ManifestFiles, referenceOf } from "@memhog/kit";
import type { AnyResource } from "@memhog/runtime";
import { helpText } from "@memhog/runtime/operator";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { program } from "../cli/commands.ts";
import { alertGroups } from "../manifests/alerts.ts";
import { memhogOperator } from "../memhog.ts";
import { holdReasons, raiseReasons, shrinkReasons } from "../model/reasons.ts";
import { eventReasons } from "../report/events.ts";
import { labelValues } from "./label-values.ts";

const howToWrite = "<!-- node operators/memhog/src/reference/write.ts -->";

export function referenceFiles(): ManifestFiles {
  return {
    "app-monitor.md": kindPage(AppMonitor),
    "app-memory.md": kindPage(AppMemory),
    "flags.md": flagsPage(),
    "reasons.md": reasonsPage(),
    "metrics.md": metricsPage(),
    "events.md": eventsPage(),
    "alerts.md": alertsPage(),
  };
}

function kindPage(kind: AnyResource): string {
  const section = referenceOf(kind).replace(/^## /, "# ").trimEnd();
  return page(section, `In a cluster: \`kubectl explain ${kind.kind.toLowerCase()} --recursive\``);
}

function flagsPage(): string {
  return page(
    "# Flags",
    "The output of `memhog-operator --help` (in this repository: `npm run memhog -- --help`):",
    `\`\`\`text\n${helpText(program)}\n\`\`\``,
  );
}

function reasonsPage(): string {
  return page(
    "# Reasons",
    "Every decision about a container has one of these reasons. They appear in `AppMemory.status.reason`, in `memhog_decisions_total`, " +
      "in logs and in the output of `explain`. For what to do about each, see [troubleshooting](../guides/troubleshooting.md).",
    "## Reasons to raise",
    table(["Reason", "Meaning"], wordsOf(raiseReasons)),
    "## Reasons to hold",
    table(["Reason", "Meaning"], wordsOf(holdReasons)),
    "## Shrink",
    "Only with `spec.shrink`, and only in the output of `explain`:",
    table(["Reason", "Meaning"], wordsOf(shrinkReasons)),
  );
}

function eventsPage(): string {
  return page(
    "# Events",
    "memhog records Events on the pod, its app and the AppMonitor when something changes: " +
      "`kubectl get events --field-selector reason=MemoryRaised`",
    table(["Reason", "Meaning"], wordsOf(eventReasons)),
  );
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

/** The metrics that an operator registers when it is created. */
export function memhogMetricsList(): readonly Metric[] {
  const prometheus = { query: () => Promise.reject(new Error("not available while the reference is generated")) };
  const { registry } = memhogOperator({ prometheus }).metrics;
  const all: readonly unknown[] = registry.getMetricsAsArray();
  return all
    .filter(isMetric)
    .filter(({ name }) => name.startsWith("memhog_"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The types of prom-client declare only part of a metric's properties. */
function isMetric(metric: unknown): metric is Metric {
  return typeof metric === "object" && metric !== null && "name" in metric && "labelNames" in metric;
}

function metricsPage(): string {
  const rows = memhogMetricsList().map(({ name, type, labelNames, help }) => [
    code(name),
    type,
    labelNames.map(code).join(", "),
    help,
  ]);
  return page(
    "# Metrics",
    "Served at `/metrics` of `--metrics-bind-address`. In addition, every operator built on @memhog/runtime serves metrics under the " +
      "names of controller-runtime and client-go: `workqueue_*`, `controller_runtime_*`, `rest_client_*`, `leader_election_master_status` " +
      "([metric-names.ts](../../packages/runtime/src/operator/metric-names.ts)).",
    table(["Metric", "Type", "Labels", "Meaning"], rows),
    "## Label values",
    "`reason` is one of the [reasons](reasons.md).",
    table(["Metric", "Label", "Value", "Meaning"], labelRows()),
  );
}

function labelRows(): readonly (readonly string[])[] {
  return labelValues.flatMap(({ metric, label, values }) =>
    Object.entries(values).map(([value, meaning]) => [code(metric), code(label), code(value), meaning]),
  );
}

function alertsPage(): string {
  const rows = alertGroups.flatMap(({ rules }) =>
    rules.map(({ alert, labels, annotations: { summary, description } }) => [code(alert), labels.severity, summary, description]),
  );
  return page(
    "# Alerts",
    "Installed as a PrometheusRule by `prometheusRule.enabled` of the Helm chart or by the kustomize component `prometheus-rule` " +
      "([installing](../../operators/memhog/deploy/README.md)).",
    table(["Alert", "Severity", "Meaning", "What to do"], rows),
  );
}

const page = (...parts: readonly string[]): string => aligned(`${[howToWrite, ...parts].join("\n\n")}\n`);

function wordsOf(reasons: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(reasons).map(([reason, meaning]) => [code(reason), meaning]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const code = (text: string): string => `\`${text}\``;

/** Aligns every Markdown table as the formatter of this repository does, so that formatting does not change generated pages. */
export function aligned(markdown: string): string {
  const blocks = markdown.split("\n").reduce<string[][]>((sum, line) => {
    const last = sum.at(-1);
    if (last !== undefined && isRow(line) && isRow(last[0] ?? "")) last.push(line);
    else sum.push([line]);
    return sum;
  }, []);
  return blocks.flatMap((block) => (isRow(block[0] ?? "") ? alignedTable(block) : block)).join("\n");
}

const isRow = (line: string): boolean => line.startsWith("| ");

function alignedTable(lines: readonly string[]): readonly string[] {
  const rows = lines.map(cellsOf);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => {
    const cells = widths.map((width, column) => padded(row[column] ?? "", width));
    return `| ${cells.join(" | ")} |`;
  });
}

const padded = (cell: string, width: number): string => (cell === "---" ? "-".repeat(width) : cell.padEnd(width));

/** An escaped `\|` belongs to its cell. */
function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, line.lastIndexOf("|"))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
