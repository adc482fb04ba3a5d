import { PodDisruptionBudget } from "@memhog/runtime/kinds";
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
  { name: "minAvailable", figures: figures({ minAvailable: 2 }, pods(3)), decision: "1 allowed: 3 healthy of 3, 2 needed" },
  {
    name: "minAvailable that is not met",
    figures: figures({ minAvailable: 2 }, pods(1, 2)),
    decision: "0 allowed: 1 healthy of 3, 2 needed",
  },
  {
    name: "minAvailable in percent rounds up",
    figures: figures({ minAvailable: "50%" }, pods(3)),
    decision: "1 allowed: 3 healthy of 3, 2 needed",
  },
  {
    name: "maxUnavailable",
    figures: figures({ maxUnavailable: 1 }, pods(3)),
    decision: "1 allowed: 3 healthy of 3, 2 needed",
  },
  {
    name: "maxUnavailable refers to the desired number of pods",
    figures: figures({ maxUnavailable: 1 }, pods(2), 3),
    decision: "0 allowed: 2 healthy of 3, 2 needed",
  },
  {
    name: "maxUnavailable in percent rounds up",
    figures: figures({ maxUnavailable: "30%" }, pods(5)),
    decision: "2 allowed: 5 healthy of 5, 3 needed",
  },
  {
    name: "a budget without pods allows no disruption",
    figures: figures({ maxUnavailable: 1 }, []),
    decision: "0 allowed: 0 healthy of 0, 0 needed",
  },
];
it.each(cases)("$name", ({ figures, decision }) => expect(figures).toBe(decision));

it("a PodDisruptionBudget does not count a pod with a granted eviction as healthy until the eviction expires", () => {
  const granted = (at: string) => budget({ minAvailable: 1 }, { disruptedPods: { "ready-0": at } });
  expect(decideBudget(granted("2026-01-01T00:59:30Z"), pods(2), 2, now)).toMatchObject({
    currentHealthy: 1,
    disruptionsAllowed: 0,
  });
  const late = decideBudget(granted("2026-01-01T00:50:00Z"), pods(2), 2, now);
  expect(late).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  expect(late.disruptedPods).toBeUndefined();
});

it("a PodDisruptionBudget has a DisruptionAllowed condition", () => {
  expect(decideBudget(budget({ minAvailable: 2 }), pods(2), 2, now).conditions).toMatchObject([
    { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" },
  ]);
});
