// The quality-of-service class of a pod: how much its containers promise and how much they may take, in one word.
import { parseQuantity, type Quantity } from "@memhog/runtime";
import { type JsonObject, listAt, objectAt } from "../json.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

const counted = ["cpu", "memory"] as const;

/** The class of a pod with this spec. Init containers count, other resources than CPU and memory do not. */
export function qosClassOf(spec: JsonObject): QosClass {
  const ofPod = objectAt(spec, "resources");
  const resources =
    Object.keys(ofPod).length > 0
      ? [ofPod]
      : [...listAt(spec, "containers"), ...listAt(spec, "initContainers")].map((container) => objectAt(container, "resources"));
  const requests = resources.map((each) => positive(objectAt(each, "requests")));
  const limits = resources.map((each) => positive(objectAt(each, "limits")));
  if ([...requests, ...limits].every((each) => each.size === 0)) return "BestEffort";
  const limited = limits.every((each) => counted.every((name) => each.has(name)));
  const asRequested = counted.every((name) => same(total(requests, name), total(limits, name)));
  return limited && asRequested ? "Guaranteed" : "Burstable";
}

function positive(amounts: JsonObject): Map<string, Quantity> {
  const parsed = counted.flatMap((name) => (name in amounts ? [[name, parseQuantity(String(amounts[name]))] as const] : []));
  return new Map(parsed.filter(([, amount]) => amount.sign > 0));
}

function total(all: readonly Map<string, Quantity>[], name: string): Quantity | undefined {
  const found = all.flatMap((each) => each.get(name) ?? []);
  return found.length === 0 ? undefined : found.reduce((sum, each) => sum.add(each));
}

function same(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.equals(b));
}
