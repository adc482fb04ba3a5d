// Real Kubernetes, because corrupted samples must be compared with correct ones: real containers measured by a real Prometheus.
import { beforeAll, describe, expect, it } from "vitest";
import { knownToPrometheus, type LyingPrometheus, lyingPrometheus, type Series } from "./corrupting-prometheus.fixture.ts";
import {
  asked,
  furnish,
  longTest,
  noTrend,
  type Operating,
  type RealWorld,
  realWorld,
  serves,
  smallHog,
} from "./real-world.fixture.ts";

beforeAll(furnish);

/** A pod above the threshold (116 of 128Mi) and a pod below it (about 60Mi). */
const hungry = smallHog("hungry");
const content = smallHog("content", { args: ["--start", "50Mi", "--hold"] });
const nearlyAll = String(127 * 1024 * 1024);

type Lie = (truth: readonly Series[]) => readonly Series[];

const spoiled =
  (value: string): Lie =>
  (truth) =>
    truth.map((series) => ({ ...series, values: series.values.map(([at]) => [at, value] as const) }));
const about =
  (pod: string, lie: (series: Series) => readonly Series[]): Lie =>
  (truth) =>
    truth.flatMap((series) => (series.metric.pod === pod ? lie(series) : [series]));
const after =
  (first: Lie, second: Lie): Lie =>
  (truth) =>
    second(first(truth));
const without = (pod: string) => about(pod, () => []);
/** Adds a copy of the series with other labels and this value. */
const besides = (labels: Readonly<Record<string, string>>, value?: string): Lie =>
  about("content", (series) => [
    series,
    {
      metric: { ...series.metric, ...labels },
      values: series.values.map(([at, seen]) => [at, value ?? seen] as const),
    },
  ]);

const lies: readonly { readonly name: string; readonly lie: Lie; readonly hold: string }[] = [
  { name: "omits a pod", lie: without("hungry"), hold: "NoSample" },
  { name: "reports NaN", lie: spoiled("NaN"), hold: "NoSample" },
  { name: "reports +Inf", lie: spoiled("+Inf"), hold: "NoSample" },
  { name: "reports negative values", lie: spoiled("-1"), hold: "NoSample" },
  {
    name: "reports only samples that are an hour old",
    lie: (truth) =>
      truth.map((series) => ({ ...series, values: series.values.map(([at, value]) => [at - 3600, value] as const) })),
    hold: "",
  },
  { name: "reports a series twice", lie: after(without("hungry"), besides({ id: "/again" })), hold: "NoSample" },
  {
    name: "reports a pod of the same name in another namespace",
    lie: after(without("hungry"), besides({ namespace: "kube-system" }, nearlyAll)),
    hold: "NoSample",
  },
];

describe.concurrent("raises with corrupted samples (real Kubernetes: real samples to compare with)", () => {
  it.each(lies)(
    "raises nothing while Prometheus $name, then raises only the pod that needs it",
    longTest,
    async ({ lie, hold }) => {
      await using on = await realWorld();
      await using prometheus = await lyingPrometheus(on.cluster.prometheus ?? "");
      prometheus.lie = lie;
      await on.monitor(noTrend);
      await on.apply(hungry, content);
      await on.eventually(
        () => on.pods(),
        (pods) => pods.length === 2 && pods.every(serves),
      );
      const operator = await on.operate({ prometheus: prometheus.address });
      await knownToPrometheus(on, "hungry");
      await heard(on, prometheus, operator);
      expect((await on.pods()).map(asked)).toEqual(["64Mi/128Mi", "64Mi/128Mi"]);
      if (hold !== "") expect(operator.reasonsFor("hungry").at(-1)).toBe(hold);
      expect(operator.journal.calls.filter(({ path }) => path.includes("/resize"))).toEqual([]);

      prometheus.lie = undefined;
      await on.eventually(
        () => on.pods(),
        (pods) => pods.some((pod) => asked(pod) === "128Mi/256Mi" && serves(pod)),
      );
      expect(asked(await on.pod("content"))).toBe("64Mi/128Mi");
    },
  );
});

/** Waits until the operator has received corrupted responses and reconciled several times. */
async function heard({ eventually }: RealWorld, { answers }: LyingPrometheus, { passes }: Operating): Promise<void> {
  const before = { answers: answers(), passes: passes.length };
  await eventually(
    () => answers() >= before.answers + 3 && passes.length >= before.passes + 4,
    (enough) => enough,
  );
}
