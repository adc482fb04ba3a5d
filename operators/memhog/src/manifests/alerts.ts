// The alerting rules. They use the typed hold reasons, so renaming a reason is a compile error here.
import { operatorName } from "../api/names.ts";
import type { HoldReason } from "../model/reasons.ts";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: "critical" | "warning" | "info" };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** Holds for one of these reasons within the last 10 minutes. */
function heldFor(...reasons: readonly HoldReason[]): string {
  return `sum by (reason, namespace, app) (increase(memhog_decisions_total{reason=~"${reasons.join("|")}"}[10m])) > 0`;
}

const alerts: readonly Alert[] = [
  {
    alert: "MemhogNoLeader",
    expr: `absent(leader_election_master_status{name="${operatorName}"} == 1)`,
    for: "5m",
    labels: { severity: "critical" },
    annotations: {
      summary: "No replica of the memhog-operator is the leader, so no memory limit is raised.",
      description: "Check its pods and their logs: kubectl logs -l app.kubernetes.io/name=memhog-operator",
    },
  },
  {
    alert: "MemhogMetricsUnavailable",
    expr: 'sum(increase(memhog_prometheus_queries_total{outcome!~"answered|partial"}[10m])) > 0 unless sum(increase(memhog_prometheus_queries_total{outcome=~"answered|partial"}[10m])) > 0',
    for: "5m",
    labels: { severity: "critical" },
    annotations: {
      summary: "The memhog-operator receives no memory samples and raises limits only after an OOM kill.",
      description:
        "kubectl get appmonitors shows MetricsUnavailable. Check --prometheus-addr and the log of the operator for the error.",
    },
  },
  {
    alert: "MemhogNoSamples",
    expr: "sum by (namespace) (memhog_pods_without_samples) > 0",
    for: "5m",
    labels: { severity: "critical" },
    annotations: {
      summary: "Prometheus has no memory samples of {{ $value }} monitored pods in namespace {{ $labels.namespace }}.",
      description:
        "memhog raises them only after an OOM kill. kubectl get appmonitors -A shows NoSamples; check that Prometheus scrapes cAdvisor on their nodes, the tenant in --prometheus-header, and --prometheus-matcher.",
    },
  },
  {
    alert: "MemhogOutOfMemoryKills",
    expr: "sum by (namespace, app) (increase(memhog_oom_kills_total[15m])) > 0",
    labels: { severity: "warning" },
    annotations: {
      summary: "Containers of {{ $labels.app }} in namespace {{ $labels.namespace }} were OOM-killed.",
      description: "Usage grew too fast, or a cap prevented a raise. Run memhog-operator explain POD.",
    },
  },
  {
    alert: "MemhogStopped",
    expr: heldFor("SuspectedLeak", "UsageFollowsLimit", "RaisesIneffective", "Contested", "CircuitOpen"),
    labels: { severity: "warning" },
    annotations: {
      summary:
        "The memhog-operator stopped raising {{ $labels.app }} in namespace {{ $labels.namespace }}: {{ $labels.reason }}.",
      description: "kubectl get appmemories -A shows the app. More memory did not help. To resume raises, edit the AppMonitor.",
    },
  },
  {
    alert: "MemhogOutOfMemoryAtCap",
    expr: heldFor("OutOfMemoryAtCap"),
    labels: { severity: "critical" },
    annotations: {
      summary:
        "{{ $labels.app }} in namespace {{ $labels.namespace }} is OOM-killed again and again, and a cap allows no more memory.",
      description:
        "kubectl get appmemories -A shows the app and its OOM kills; memhog-operator explain POD shows the cap: maxMemory, a LimitRange, a ResourceQuota or the node.",
    },
  },
  {
    alert: "MemhogCapReached",
    expr: heldFor("CapReached"),
    for: "5m",
    labels: { severity: "warning" },
    annotations: {
      summary: "{{ $labels.app }} in namespace {{ $labels.namespace }} needs more memory than a cap allows.",
      description:
        "kubectl get appmemories -A shows the app; memhog-operator explain POD shows the cap: maxMemory, a LimitRange, a ResourceQuota or the node.",
    },
  },
  {
    alert: "MemhogRefused",
    expr: heldFor("Refused"),
    for: "5m",
    labels: { severity: "warning" },
    annotations: {
      summary: "The API server rejects raises of the memhog-operator.",
      description: "The usual cause is a missing permission or a ResourceQuota. The Events of the AppMonitor contain the error.",
    },
  },
];

export const alertGroups = [{ name: operatorName, rules: alerts }] as const;
