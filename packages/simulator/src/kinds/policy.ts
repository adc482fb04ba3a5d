// PodDisruptionBudgets, HorizontalPodAutoscalers, Leases, and PriorityClasses.
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import { type FieldError, invalid, required } from "../server/field-error.ts";
import { ageColumn, at, count, nameColumn, text } from "./columns.ts";
import { builtIn, type KindEntry, status } from "./kind-entry.ts";
import { intOrPercentErrors, notNegative } from "./validation.ts";

function budgetErrors(budget: ApiObject): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = objectAt(budget, "spec");
  // The message contains the spec as Go prints the struct.
  const spec = {
    MinAvailable: minAvailable ?? null,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")] : []),
    ...intOrPercentErrors("spec.minAvailable", minAvailable),
    ...intOrPercentErrors("spec.maxUnavailable", maxUnavailable),
  ];
}

export const podDisruptionBudgets: KindEntry = builtIn("policy", "v1", "PodDisruptionBudget", {
  shortNames: ["pdb"],
  generation: "spec",
  versionedUpdate: true,
  validate: (budget) => budgetErrors(budget),
  columns: [
    nameColumn,
    text("Min Available", (budget) => String(valueAt(budget, "spec", "minAvailable") ?? "N/A")),
    text("Max Unavailable", (budget) => String(valueAt(budget, "spec", "maxUnavailable") ?? "N/A")),
    count("Allowed Disruptions", ".status.disruptionsAllowed"),
    ageColumn,
  ],
  subresources: status,
});

const cpuAt80 = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }];

const every15Seconds = (type: string, value: number) => ({ type, value, periodSeconds: 15 });
const scalingUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [every15Seconds("Pods", 4), every15Seconds("Percent", 100)],
};
const scalingDown = { selectPolicy: "Max", policies: [every15Seconds("Percent", 100)] };

function targetText(autoscaler: ApiObject): string {
  const metrics = listAt(autoscaler, "spec", "metrics").map((metric, index) =>
    metricText(metric, listAt(autoscaler, "status", "currentMetrics")[index] ?? {}),
  );
  return metrics.length > 2 ? `${metrics.slice(0, 2).join(", ")} + ${metrics.length - 2} more...` : metrics.join(", ");
}

function metricText(metric: JsonObject, current: JsonObject): string {
  const { name, target } = objectAt(metric, "resource");
  const now = objectAt(current, "resource", "current");
  if (metric.type !== "Resource") return "<unknown>";
  const percent = (value: unknown) => (value === undefined ? "<unknown>" : `${value}%`);
  const wanted = objectAt({ target }, "target");
  return wanted.averageUtilization === undefined
    ? `${name}: ${now.averageValue ?? "<unknown>"}/${wanted.averageValue}`
    : `${name}: ${percent(now.averageUtilization)}/${percent(wanted.averageUtilization)}`;
}

export const horizontalPodAutoscalers: KindEntry = builtIn("autoscaling", "v2", "HorizontalPodAutoscaler", {
  shortNames: ["hpa"],
  categories: ["all"],
  generation: "spec",
  table: {
    "spec!": { minReplicas: 1, metrics: cpuAt80, "behavior?": { "scaleUp!": scalingUp, "scaleDown!": scalingDown } },
  },
  columns: [
    nameColumn,
    text("Reference", (scaler) => {
      const { kind, name } = objectAt(scaler, "spec", "scaleTargetRef");
      return `${kind}/${name}`;
    }),
    text("Targets", targetText),
    text("MinPods", (scaler) => String(valueAt(scaler, "spec", "minReplicas") ?? "<unset>")),
    text("MaxPods", at(".spec.maxReplicas", 0)),
    text("Replicas", at(".status.currentReplicas", 0)),
    ageColumn,
  ],
  subresources: status,
});

function leaseErrors(lease: ApiObject): readonly FieldError[] {
  const { leaseDurationSeconds, leaseTransitions } = objectAt(lease, "spec");
  const short = typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0;
  return [
    ...(short ? [invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0")] : []),
    ...notNegative("spec.leaseTransitions", leaseTransitions),
  ];
}

export const leases: KindEntry = builtIn("coordination.k8s.io", "v1", "Lease", {
  createOnUpdate: true,
  versionedUpdate: true,
  validate: leaseErrors,
  columns: [nameColumn, text("Holder", at(".spec.holderIdentity", "")), ageColumn],
});

export const priorityClasses: KindEntry = builtIn("scheduling.k8s.io", "v1", "PriorityClass", {
  namespaced: false,
  plural: "priorityclasses",
  shortNames: ["pc"],
  generation: "spec",
  table: { preemptionPolicy: "PreemptLowerPriority" },
  columns: [
    nameColumn,
    count("Value", ".value"),
    { name: "Global-Default", type: "boolean", cell: at(".globalDefault", false) },
    ageColumn,
    text("PreemptionPolicy", ".preemptionPolicy"),
  ],
  validate: (found) => (typeof found.value === "number" ? [] : [required("value")]),
});
