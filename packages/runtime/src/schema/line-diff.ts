// Two texts, line by line, as people read a change.
import { diff } from "node:util";

/** Unchanged lines kept around a change, so that one sees where it is. */
const context = 2;

/** The changed lines with their surroundings: "-" only in `found`, "+" only in `expected`. */
export function lineDiff(found: string, expected: string): string {
  const marks = { "-1": "-", "0": " ", "1": "+" } as const;
  // Node's diff marks with 1 what only the first has.
  const lines = diff(expected.split("\n"), found.split("\n")).map(([side, line]) => ({ mark: marks[side], line }));
  const near = (index: number) => lines.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== " ");
  const shown = lines.map(({ mark, line }, index) => (near(index) ? `${mark} ${line}` : undefined));
  return shown
    .filter((line, index) => line !== undefined || shown[index - 1] !== undefined)
    .map((line) => line ?? "…")
    .join("\n");
}
