import { PodDisruptionBudget } from "@memhog/runtime";
import { anObject, aPod } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { decideBudget } from "./disruption-budgets.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const budget = (spec: object, status = {}) => anObject(PodDisruptionBudget, { spec, status } as never);
const pods = (ready: number, broken = 0) => [
  ...Array.from({ length: ready }, (_, at) => aPod({ metadata: { name: `ready-${at}` } })),
  ...Array.from({ length: broken }, (_, at) => aPod({ metadata: { name: `broken-${at}` }, status: { conditions: [] } })),
];
const figures = (spec: object, of: ReturnType<typeof pods>, controlled = of.length) => {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = decideBudget(budget(spec), of, controlled, now);
  return `${disruptionsAllowed} allowed: ${currentHealthy} healthy of ${expectedPods}, ${desiredHealthy} needed`;
};

const cases = [
  { name: "a minimum", figures: figures({ minAvailable: 2 }, pods(3)), decision: "1 allowed: 3 healthy of 3, 2 needed" },
  {
    name: "a minimum that is not met",
    figures: figures({ minAvailable: 2 }, pods(1, 2)),
    decision: "0 allowed: 1 healthy of 3, 2 needed",
  },
  {
    name: "a minimum in percent rounds up",
    figures: figures({ minAvailable: "50%" }, pods(3)),
    decision: "1 allowed: 3 healthy of 3, 2 needed",
  },
  {
    name: "a maximum that may be missing",
    figures: figures({ maxUnavailable: 1 }, pods(3)),
    decision: "1 allowed: 3 healthy of 3, 2 needed",
  },
  {
    name: "counts from what is wanted, not from what is there",
    figures: figures({ maxUnavailable: 1 }, pods(2), 3),
    decision: "0 allowed: 2 healthy of 3, 2 needed",
  },
  {
    name: "a maximum in percent rounds up, too",
    figures: figures({ maxUnavailable: "30%" }, pods(5)),
    decision: "2 allowed: 5 healthy of 5, 3 needed",
  },
  {
    name: "nothing to protect allows nothing",
    figures: figures({ maxUnavailable: 1 }, []),
    decision: "0 allowed: 0 healthy of 0, 0 needed",
  },
];
it.each(cases)("$name", ({ figures, decision }) => expect(figures).toBe(decision));

it("a pod whose eviction was granted does not count as healthy, until it should have been gone", () => {
  const granted = (at: string) => budget({ minAvailable: 1 }, { disruptedPods: { "ready-0": at } });
  expect(decideBudget(granted("2026-01-01T00:59:30Z"), pods(2), 2, now)).toMatchObject({
    currentHealthy: 1,
    disruptionsAllowed: 0,
  });
  const late = decideBudget(granted("2026-01-01T00:50:00Z"), pods(2), 2, now);
  expect(late).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  expect(late.disruptedPods).toBeUndefined();
});

it("says in a condition whether pods may be evicted", () => {
  expect(decideBudget(budget({ minAvailable: 2 }), pods(2), 2, now).conditions).toMatchObject([
    { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" },
  ]);
});
