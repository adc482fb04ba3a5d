// docs/reference, page by page, from the values that the program runs on: kinds, flags, reasons, metrics, Events. Nothing of it is
// written by hand, so nothing of it can be out of date; what needs more words than these values have is in docs/guides.
import { type AnyResource, type ManifestFiles, referenceOf } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { memhogFlags } from "../cli/flags.ts";
import { alertGroups } from "../manifests/alerts.ts";
import { memhogOperator } from "../memhog.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { eventReasons } from "../report/event-reasons.ts";
import { aligned } from "./align.ts";
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
  const { help = "" } = memhogFlags(["--help"], {});
  return page("# Flags", "What `memhog-operator --help` says (`npm run memhog -- --help`):", `\`\`\`text\n${help}\n\`\`\``);
}

function reasonsPage(): string {
  return page(
    "# Reasons",
    "Every decision about a container has one of these. They are in `AppMemory.status.reason`, in `memhog_decisions_total`, in logs and " +
      "in `explain`. What to do about each: [troubleshooting](../guides/troubleshooting.md).",
    "## A container gets more memory because",
    table(["Reason", "Meaning"], wordsOf(raiseReasons)),
    "## A container keeps what it has because",
    table(["Reason", "Meaning"], wordsOf(holdReasons)),
  );
}

function eventsPage(): string {
  return page(
    "# Events",
    "On the pod, on its app and on the AppMonitor in charge; only when something changes. " +
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

/** As they are registered by an operator that is not run. */
export function metricsOfOurs(): readonly Metric[] {
  const nobody = { query: () => Promise.reject(new Error("nothing is asked while pages are written")) };
  const { registry } = memhogOperator({ prometheus: nobody }).metrics;
  const all = registry.getMetricsAsArray() as unknown as readonly Metric[];
  return all.filter(({ name }) => name.startsWith("memhog_")).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function metricsPage(): string {
  const rows = metricsOfOurs().map(({ name, type, labelNames, help }) => [
    code(name),
    type,
    labelNames.map(code).join(", "),
    help,
  ]);
  return page(
    "# Metrics",
    "At `/metrics` of `--metrics-bind-address`. Beside these there are those of every operator on @memhog/runtime, under the names that " +
      "controller-runtime and client-go use: `workqueue_*`, `controller_runtime_*`, `rest_client_*`, `leader_election_master_status` " +
      "([metric-names.ts](../../packages/runtime/src/operator/metric-names.ts)).",
    table(["Metric", "Type", "Labels", "Meaning"], rows),
    "## What the labels can be",
    "`reason`: one of the [reasons](reasons.md).",
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
    "As a PrometheusRule: `prometheusRule.enabled` of the Helm chart, or the kustomize component `prometheus-rule` " +
      "([installing](../../deploy/README.md)).",
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
