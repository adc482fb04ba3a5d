// Whether request and limit of a pod must grow in one step. Guaranteed is what a pod is only while the two are equal. And a
// LimitRange may bound limit ÷ request, per container or of the sums over the pod: with a bound of 2, a limit of 768Mi beside a
// request of 256Mi is refused, though 512Mi/768Mi is welcome.
import type { Change } from "../../model/record.ts";
import type { AppSeen, PodSeen, RangeSeen } from "../../model/seen.ts";

export function mustGrowTogether({ limits }: AppSeen, pod: PodSeen, changes: readonly Change[]): boolean {
  return pod.qos === "Guaranteed" || limits.ranges.some((range) => forbidsLimitsAlone(range, pod, changes));
}

function forbidsLimitsAlone({ per, maxRatio }: RangeSeen, pod: PodSeen, changes: readonly Change[]): boolean {
  if (maxRatio === undefined) return false;
  const sizes = pod.containers.map(({ name, limit = 0, request = 0 }) => {
    const to = changes.find(({ container }) => container === name)?.to;
    return { limit: Math.max(limit, to?.limit ?? 0), request, grows: to?.request !== undefined && to.request > request };
  });
  // Where no request is to grow, "both" would be the same patch as "limits".
  const tooMuch = per === "Container" ? sizes.filter(({ grows }) => grows) : sizes.some(({ grows }) => grows) ? [sum(sizes)] : [];
  return tooMuch.some(({ limit, request }) => limit > request * maxRatio);
}

function sum(sizes: readonly { readonly limit: number; readonly request: number }[]) {
  return {
    limit: sizes.reduce((total, { limit }) => total + limit, 0),
    request: sizes.reduce((total, { request }) => total + request, 0),
  };
}
