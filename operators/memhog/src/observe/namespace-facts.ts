// The facts of LimitRanges, ResourceQuotas, HorizontalPodAutoscalers and nodes, as far as they concern memory.
import { type Node, parseQuantity } from "@memhog/runtime";
import type { HorizontalPodAutoscaler, LimitRange, LimitRangeItem, ResourceQuota } from "@memhog/runtime/kinds";
import type { Bytes } from "../model/bytes.ts";
import type { ObservedLimitRange, ObservedQuota } from "../model/observed-app.ts";
import { isName } from "./kinds.ts";
import { memoryIn } from "./pod-facts.ts";

export type RangeFacts = readonly Omit<ObservedLimitRange, "name">[];
export type QuotaFacts = readonly Omit<ObservedQuota, "name">[];

export function rangeFacts({ spec }: LimitRange): RangeFacts {
  return (spec?.limits ?? []).flatMap((item) => {
    const per = item.type === "Container" ? "Container" : item.type === "Pod" ? "Pod" : undefined;
    const max = memoryIn(item.max);
    const maxRatio = ratioIn(item);
    return per === undefined || (max === undefined && maxRatio === undefined) ? [] : [{ per, max, maxRatio }];
  });
}

/** maxLimitRequestRatio is a number in the form of a quantity: "1.5", "1500m". */
function ratioIn({ maxLimitRequestRatio }: LimitRangeItem): number | undefined {
  const text = maxLimitRequestRatio?.memory;
  if (text === undefined) return undefined;
  try {
    return parseQuantity(text).toNumber();
  } catch {
    return undefined;
  }
}

/** The resource names of a quota that concern memory. */
const quotaNames = { "limits.memory": "limits", "requests.memory": "requests", memory: "requests" } as const;

/**
 * A quota may have scopes. Pods with a memory limit are never BestEffort. Quotas with other scopes are ignored here and left to the
 * API server to enforce, because a cap that does not apply would block raises for no reason.
 */
export function quotaFacts({ spec = {}, status = {} }: ResourceQuota): QuotaFacts {
  const scopes = [...(spec.scopes ?? []), ...(spec.scopeSelector?.matchExpressions ?? []).map(({ scopeName }) => scopeName)];
  if (scopes.some((scope) => scope !== "NotBestEffort" && scope !== "NotTerminating")) return [];
  const hard = status.hard ?? spec.hard;
  return Object.entries(quotaNames).flatMap(([name, of]) => {
    const most = memoryIn(hard, name);
    return most === undefined ? [] : [{ of, hard: most, used: memoryIn(status.used, name) ?? (0 as ObservedQuota["used"]) }];
  });
}

export interface AutoscalerFacts {
  /** The scaled app, in the form of `appText`: "Deployment/web", "Other/Rollout.argoproj.io/web". */
  readonly target: string;
  /** It scales by memory usage relative to the request, so a larger request changes the number of replicas. */
  readonly byMemoryUtilization: boolean;
}

export function autoscalerFacts({ spec }: HorizontalPodAutoscaler): AutoscalerFacts {
  const byMemoryUtilization = (spec.metrics ?? []).some(({ resource, containerResource }) =>
    [resource, containerResource].some((metric) => metric?.name === "memory" && metric.target.type === "Utilization"),
  );
  return { target: targetOf(spec.scaleTargetRef), byMemoryUtilization };
}

function targetOf({ apiVersion = "apps/v1", kind, name }: HorizontalPodAutoscaler["spec"]["scaleTargetRef"]): string {
  if (![apiVersion, kind, name].every(isName)) return "";
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
  return group === "apps" ? `${kind}/${name}` : `Other/${kind}${group && `.${group}`}/${name}`;
}

export interface NodeFacts {
  readonly allocatable: Bytes | undefined;
  readonly underPressure: boolean;
  /** The minor version of its kubelet, which may be older than the API server. */
  readonly kubeletMinor: number | undefined;
}

export function nodeFacts({ status }: Node): NodeFacts {
  const minor = /^v?1\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? "")?.[1];
  const underPressure = (status?.conditions ?? []).some((each) => each.type === "MemoryPressure" && each.status === "True");
  return {
    ...{ allocatable: memoryIn(status?.allocatable), underPressure },
    kubeletMinor: minor === undefined ? undefined : Number(minor),
  };
}
