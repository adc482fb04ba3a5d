// Whether a pod fits on a node, and what the kubelet says if it does not. Memory is looked at first, as it does.
import type { Amounts } from "./amounts.ts";
import type { Room } from "./pod-tools.ts";

/** What is short. */
export interface Shortage {
  readonly resource: keyof Amounts;
  /** There will never be enough: the node is too small even when empty. */
  readonly forever: boolean;
  readonly message: string;
}

/** Undefined: it fits. */
export function shortageFor(requested: Amounts, { allocatable, usedByOthers }: Room): Shortage | undefined {
  const order = ["memory", "cpu"] as const;
  const never = order.find((name) => requested[name] > allocatable[name]);
  if (never !== undefined) {
    const message = `Node didn't have enough capacity: ${never}, requested: ${requested[never]}, capacity: ${allocatable[never]}`;
    return { resource: never, forever: true, message };
  }
  const short = order.find((name) => requested[name] > 0 && usedByOthers[name] + requested[name] > allocatable[name]);
  return short && { resource: short, forever: false, message: notEnough(short, requested, { allocatable, usedByOthers }) };
}

/** As the scheduler's own predicate puts it. */
export function notEnough(name: keyof Amounts, requested: Amounts, { allocatable, usedByOthers }: Room): string {
  return (
    `Node didn't have enough resource: ${name}, requested: ${requested[name]}, ` +
    `used: ${usedByOthers[name]}, capacity: ${allocatable[name]}`
  );
}
