// Sums and lines through points, computed as Prometheus computes them, so that not even the last digit differs: with the
// errors of rounding carried along (Kahan and Neumaier).
import type { Point } from "../series-store.ts";

/** A sum that does not forget what it rounds off. */
export class ExactSum {
  #sum = 0;
  #rest = 0;

  add(value: number): this {
    const sum = this.#sum + value;
    if (Math.abs(this.#sum) >= Math.abs(value)) this.#rest += this.#sum - sum + value;
    else this.#rest += value - sum + this.#sum;
    this.#sum = sum;
    return this;
  }

  get value(): number {
    return Number.isFinite(this.#sum) ? this.#sum + this.#rest : this.#sum;
  }
}

export function exactSum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum.add(value), new ExactSum()).value;
}

/** The line that fits the points best; the intercept is its value at `originMs`. */
export function regression(points: readonly Point[], originMs: number): { readonly slope: number; readonly intercept: number } {
  const [first] = points;
  if (first !== undefined && points.every(({ v }) => v === first.v)) {
    return Number.isFinite(first.v) ? { slope: 0, intercept: first.v } : { slope: Number.NaN, intercept: Number.NaN };
  }
  const n = points.length;
  const x = points.map(({ t }) => (t - originMs) / 1_000);
  const y = points.map(({ v }) => v);
  const [sumX, sumY] = [exactSum(x), exactSum(y)];
  const sumXY = exactSum(x.map((each, at) => each * (y[at] ?? 0)));
  const sumX2 = exactSum(x.map((each) => each * each));
  const slope = (sumXY - (sumX * sumY) / n) / (sumX2 - (sumX * sumX) / n);
  return { slope, intercept: sumY / n - (slope * sumX) / n };
}
