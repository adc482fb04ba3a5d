// What is kept of the bounds of a namespace, and of autoscalers: only what concerns memory.
import {
  type HorizontalPodAutoscaler,
  type LimitRange,
  type LimitRangeItem,
  parseQuantity,
  type ResourceQuota,
} from "@memhog/runtime";
import type { QuotaSeen, RangeSeen } from "../../model/seen.ts";
import { memoryIn } from "./amounts.ts";

export type RangeFacts = readonly Omit<RangeSeen, "name">[];
export type QuotaFacts = readonly Omit<QuotaSeen, "name">[];

export function rangeFacts({ spec }: LimitRange): RangeFacts {
  return (spec?.limits ?? []).flatMap((item) => {
    const per = item.type === "Container" ? "Container" : item.type === "Pod" ? "Pod" : undefined;
    const max = memoryIn(item.max);
    const maxRatio = ratioIn(item);
    return per === undefined || (max === undefined && maxRatio === undefined) ? [] : [{ per, max, maxRatio }];
  });
}

/** limit ÷ request is a plain number, written as a quantity: "1.5", "1500m". */
function ratioIn({ maxLimitRequestRatio }: LimitRangeItem): number | undefined {
  const text = maxLimitRequestRatio?.memory;
  if (text === undefined) return undefined;
  try {
    return parseQuantity(text).toNumber();
  } catch {
    return undefined;
  }
}

/** Names under which a quota speaks of memory. */
const quotaNames = { "limits.memory": "limits", "requests.memory": "requests", memory: "requests" } as const;

/**
 * A quota may be limited to some pods. Pods with a memory limit are never BestEffort; which of them have a deadline, a priority
 * class or the like is left to the API server, which refuses what goes too far: a cap that does not apply would hold for nothing.
 */
export function quotaFacts({ spec = {}, status = {} }: ResourceQuota): QuotaFacts {
  const scopes = [...(spec.scopes ?? []), ...(spec.scopeSelector?.matchExpressions ?? []).map(({ scopeName }) => scopeName)];
  if (scopes.some((scope) => scope !== "NotBestEffort" && scope !== "NotTerminating")) return [];
  const hard = status.hard ?? spec.hard;
  return Object.entries(quotaNames).flatMap(([name, of]) => {
    const most = memoryIn(hard, name);
    return most === undefined ? [] : [{ of, hard: most, used: memoryIn(status.used, name) ?? (0 as QuotaSeen["used"]) }];
  });
}

export interface AutoscalerFacts {
  /** What it scales, as apps are called: "Deployment/web", "Other/Rollout.argoproj.io/web". */
  readonly target: string;
  /** By the share of the memory request that is in use: a larger request changes how many replicas there are. */
  readonly byMemoryUtilization: boolean;
}

export function autoscalerFacts({ spec }: HorizontalPodAutoscaler): AutoscalerFacts {
  const byMemoryUtilization = (spec.metrics ?? []).some(({ resource, containerResource }) =>
    [resource, containerResource].some((metric) => metric?.name === "memory" && metric.target.type === "Utilization"),
  );
  return { target: targetOf(spec.scaleTargetRef), byMemoryUtilization };
}

function targetOf({ apiVersion = "apps/v1", kind, name }: HorizontalPodAutoscaler["spec"]["scaleTargetRef"]): string {
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
  return group === "apps" ? `${kind}/${name}` : `Other/${kind}${group && `.${group}`}/${name}`;
}
