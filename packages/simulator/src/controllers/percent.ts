// "25%" of something, or simply a number: how budgets and rollouts spell their bounds.
import type { IntOrString } from "@memhog/runtime";

/** The number that is meant, of `total`. A percentage that does not come out even is rounded as told. */
export function resolveBound(bound: IntOrString, total: number, rounding: "up" | "down"): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound)?.[1];
  if (percent === undefined) return Number.parseInt(bound, 10) || 0;
  const exact = (total * Number(percent)) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}
