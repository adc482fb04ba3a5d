// Answers of a Prometheus, and transports that give them.
import type { PrometheusAnswer, PrometheusTransport } from "./transport.ts";

export const workingSet = "container_memory_working_set_bytes";
export const usage = "container_memory_usage_bytes";

/** When these answers are given, by the clock of Prometheus. */
export const answeredAtMs = Date.UTC(2026, 5, 1, 12);

export interface SeriesGiven {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds before the answer, and the value. */
  readonly points: readonly (readonly [ageSeconds: number, value: number | string])[];
}

export const aSeries = ({ name = workingSet, labels, points }: SeriesGiven) => ({
  metric: { __name__: name, namespace: "shop", pod: "web", container: "main", id: "/kubepods/web", ...labels },
  values: points.map(([age, value]) => [answeredAtMs / 1000 - age, String(value)]),
});

export const matrix = (...series: readonly SeriesGiven[]) =>
  JSON.stringify({ status: "success", data: { resultType: "matrix", result: series.map(aSeries) } });

export type Given = Partial<PrometheusAnswer> | string | Error;

/** Answers each question with the next of these; the last one stays. */
export function answering(...answers: readonly Given[]) {
  const asked: string[] = [];
  const transport: PrometheusTransport = {
    query: async ({ query = "" }) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? "";
      asked.push(query);
      if (answer instanceof Error) throw answer;
      const usual = { status: 200, dateMs: answeredAtMs, body: "" };
      return typeof answer === "string" ? { ...usual, body: answer } : { ...usual, ...answer };
    },
  };
  return { transport, asked };
}
