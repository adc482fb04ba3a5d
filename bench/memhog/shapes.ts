// Labelled traces of memory usage through the real decide() (operators/memhog/src/decide/traces.fixture.ts): which of them memhog stops
// as a leak, and which it should. Twelve shapes, and healthy programs that need more than 8 times their limit. A trace is generated
// from its shape and a seed. The tests of the detector use small seeds, so the default ones are large.
import { labelledShapes, largeShapes, runTrace } from "@memhog/memhog-operator/testing";
import { seededRandom } from "@memhog/runtime/testing";
import { type Figure, percentile, type Table } from "../report.ts";

const originalLimit = 384;

export interface Seeds {
  /** The first seed. */
  readonly from: number;
  /** Traces per shape. */
  readonly count: number;
}

interface ShapeResult {
  readonly name: string;
  readonly isLarge: boolean;
  readonly traces: number;
  readonly leaks: number;
  readonly stopped: number;
  readonly falseAlarms: number;
  readonly misses: number;
  /** Limit at the stop as a multiple of the original limit, the median; NaN if none was stopped. */
  readonly sizeAtStop: number;
  /** Traces with an OOM kill. */
  readonly killed: number;
}

export function runShapes(seeds: Seeds): readonly ShapeResult[] {
  const shapes = [...labelledShapes, ...largeShapes];
  console.error(`labelled traces, ${shapes.length} shapes of ${seeds.count}`);
  return shapes.map((shape) => resultOf(shape, seeds));
}

function resultOf(shape: (typeof labelledShapes)[number], { from, count }: Seeds): ShapeResult {
  const { name, isLeak, trace } = shape;
  const outcomes = Array.from({ length: count }, (_, at) => runTrace(trace(seededRandom(from + at))));
  const stops = outcomes.filter(({ stopped }) => stopped !== undefined);
  return {
    ...{ name, isLarge: largeShapes.includes(shape), traces: count, leaks: isLeak ? count : 0, stopped: stops.length },
    falseAlarms: isLeak ? 0 : stops.length,
    misses: isLeak ? count - stops.length : 0,
    sizeAtStop: percentile(
      stops.map(({ limits }) => (limits.at(-1) ?? Number.NaN) / originalLimit),
      0.5,
    ),
    killed: outcomes.filter(({ kills }) => kills > 0).length,
  };
}

/** The totals, for the table of all figures. */
export function totalsOf(results: readonly ShapeResult[]): readonly Figure[] {
  const total = (name: string, of: "falseAlarms" | "misses", among: readonly ShapeResult[]): Figure => {
    const traces = among.reduce((sum, { traces }) => sum + traces, 0);
    const ours = among.reduce((sum, result) => sum + result[of], 0);
    return { name: `${name} ${traces} traces`, unit: "traces", ours, peers: {} };
  };
  return [
    total(
      "leaks: misses in",
      "misses",
      results.filter(({ leaks }) => leaks > 0),
    ),
    total(
      "no leaks: false alarms in",
      "falseAlarms",
      results.filter(({ leaks, isLarge }) => leaks === 0 && !isLarge),
    ),
    total(
      "no leaks, above 8 times the limit: false alarms in",
      "falseAlarms",
      results.filter(({ isLarge }) => isLarge),
    ),
  ];
}

/** Every cell of the table as a figure, for scripts. */
export function figuresOf(results: readonly ShapeResult[]): readonly Figure[] {
  return results.flatMap((result) =>
    columns.map(({ title, of, unit = "traces" }) => ({ name: `${result.name}: ${title}`, unit, ours: of(result), peers: {} })),
  );
}

export function tableOf(results: readonly ShapeResult[]): Table {
  const rowOf = (result: ShapeResult) => [result.name, ...columns.map(({ of }) => cell(of(result)))];
  return { header: ["shape", ...columns.map(({ title }) => title)], rows: results.map(rowOf) };
}

const cell = (value: number): string => (Number.isNaN(value) ? "–" : String(Math.round(value * 10) / 10));

const columns: readonly { readonly title: string; readonly unit?: string; readonly of: (result: ShapeResult) => number }[] = [
  { title: "traces", of: ({ traces }) => traces },
  { title: "should be stopped", of: ({ leaks }) => leaks },
  { title: "stopped", of: ({ stopped }) => stopped },
  { title: "false alarms", of: ({ falseAlarms }) => falseAlarms },
  { title: "misses", of: ({ misses }) => misses },
  { title: "limit at the stop ÷ original limit", unit: "×", of: ({ sizeAtStop }) => sizeAtStop },
  { title: "OOM-killed", of: ({ killed }) => killed },
];
