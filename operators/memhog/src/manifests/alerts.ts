// What somebody should be told, as alerts. Each says what to do in the words of `explain` and of the reasons, so the two are one
// list: a reason that is renamed does not compile here.
import { operatorName } from "../api/names.ts";
import type { HoldReason } from "../model/reasons.ts";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long it has to be true. */
  readonly for?: string;
  readonly labels: { readonly severity: "critical" | "warning" | "info" };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** Apps that were held for one of these reasons lately. */
function heldFor(...reasons: readonly HoldReason[]): string {
  return `sum by (reason) (increase(memhog_decisions_total{reason=~"${reasons.join("|")}"}[10m])) > 0`;
}

const alerts: readonly Alert[] = [
  {
    alert: "MemhogNobodyLeads",
    expr: `absent(leader_election_master_status{name="${operatorName}"} == 1)`,
    for: "5m",
    labels: { severity: "critical" },
    annotations: {
      summary: "No replica of the memhog-operator leads: no container gets more memory.",
      description: "Look at its pods and their logs: kubectl logs -l app.kubernetes.io/name=memhog-operator",
    },
  },
  {
    alert: "MemhogMetricsUnavailable",
    expr: 'sum(increase(memhog_prometheus_queries_total{outcome!~"answered|partial"}[10m])) > 0 unless sum(increase(memhog_prometheus_queries_total{outcome=~"answered|partial"}[10m])) > 0',
    for: "5m",
    labels: { severity: "critical" },
    annotations: {
      summary: "The memhog-operator gets no memory samples: it acts only after a kill.",
      description:
        "kubectl get appmonitors says MetricsUnavailable; check --prometheus-addr and what the operator's log says of it.",
    },
  },
  {
    alert: "MemhogOutOfMemoryKills",
    expr: "increase(memhog_oom_kills_total[15m]) > 0",
    labels: { severity: "warning" },
    annotations: {
      summary: "Monitored containers were killed for lack of memory.",
      description: "The rise was too fast, or a cap in the way: memhog-operator explain POD",
    },
  },
  {
    alert: "MemhogStopped",
    expr: heldFor("SuspectedLeak", "RaisesFutile", "Contested", "CircuitOpen"),
    labels: { severity: "warning" },
    annotations: {
      summary: "The memhog-operator leaves an app alone: {{ $labels.reason }}.",
      description:
        "kubectl get appmemories -A names the app. More memory does not help it; an edit of the AppMonitor lifts the stop.",
    },
  },
  {
    alert: "MemhogAtCeiling",
    expr: heldFor("AtCeiling"),
    for: "5m",
    labels: { severity: "warning" },
    annotations: {
      summary: "An app needs more memory than a cap allows.",
      description:
        "kubectl get appmemories -A names the app, explain names the cap: maxMemory, a LimitRange, a quota or the node.",
    },
  },
  {
    alert: "MemhogRefused",
    expr: heldFor("Refused"),
    for: "5m",
    labels: { severity: "warning" },
    annotations: {
      summary: "The API server refuses what the memhog-operator should do.",
      description: "Often a right or a quota: the Events of the AppMonitor have the refusal.",
    },
  },
];

export const alertGroups = [{ name: operatorName, rules: alerts }] as const;
