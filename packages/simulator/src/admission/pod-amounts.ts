// What a pod asks for as a whole: its containers together, or the greediest moment of its init containers, whichever is more.
import { parseQuantity, type Quantity } from "@memhog/runtime";
import { isObject, type JsonObject, listAt, objectAt } from "../json.ts";

/** By resource: "memory", "cpu", … */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Of `requests` or `limits`. Resources that the pod itself names replace those of its containers. */
export function podAmounts(spec: JsonObject, part: "requests" | "limits"): Amounts {
  let sidecars: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of listAt(spec, "initContainers")) {
    const own = amountsIn(objectAt(container, "resources", part));
    peak = larger(peak, sum(sidecars, own));
    if (container.restartPolicy === "Always") sidecars = sum(sidecars, own);
  }
  const running = listAt(spec, "containers").reduce<Amounts>(
    (total, container) => sum(total, amountsIn(objectAt(container, "resources", part))),
    sidecars,
  );
  return new Map([...larger(running, peak), ...amountsIn(objectAt(spec, "resources", part))]);
}

export function amountsIn(list: unknown): Amounts {
  if (!isObject(list)) return new Map();
  return new Map(Object.entries(list).map(([name, amount]) => [name, parseQuantity(String(amount))]));
}

export function sum(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (left, right) => left.add(right));
}

function larger(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (left, right) => (left.compare(right) < 0 ? right : left));
}

function combined(a: Amounts, b: Amounts, combine: (left: Quantity, right: Quantity) => Quantity): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const before = result.get(name);
    result.set(name, before === undefined ? amount : combine(before, amount));
  }
  return result;
}
