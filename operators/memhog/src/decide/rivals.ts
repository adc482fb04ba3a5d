// Other autoscalers. A VPA has the memory for itself (hands-off.ts). An HPA by memory utilisation divides use by request: as long
// as the request stays, a higher limit is none of its business. So beside an HPA only limits grow, in place; whatever cannot be
// done that way is only recommended (promise F1).
import { type Due, type Facts, type Hold, hold } from "./facts.ts";
import { resizesInPlace } from "./in-place-able.ts";

export function horizontalAutoscaler({ seen, pod, container }: Facts, { wanted }: Due): Hold | undefined {
  if (seen.rival?.kind !== "HPA") return undefined;
  const why = pod.qos === "Guaranteed" ? "its request would have to grow too" : "it would have to be redeployed";
  if (pod.qos !== "Guaranteed" && resizesInPlace(seen, pod, container)) return undefined;
  return hold("AnotherAutoscaler", `${seen.rival.name} scales by memory utilisation, and ${why}`, { wanted });
}
