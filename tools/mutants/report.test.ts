import { expect, it } from "vitest";
import { summarize, survivorsIn } from "./report.ts";

const file = "src/a.ts";
const mutant = (status: string, column: number) => ({
  mutatorName: "ConditionalExpression",
  replacement: "true",
  status,
  location: { start: { line: 2, column }, end: { line: 2, column: column + 5 } },
});
const report = {
  files: {
    [file]: {
      source: "\nif (a < b && c > d) {}\n",
      mutants: [mutant("Survived", 5), mutant("NoCoverage", 14), mutant("Killed", 5)],
    },
  },
};

it("lists survivors with their text, and leaves out those that are explained", () => {
  const why = "both are the same";
  const found = survivorsIn(file, report, [{ file, original: "c > d", replacement: "true", why }]);
  expect(found).toMatchObject({
    mutants: 3,
    survivors: [
      { line: 2, original: "a < b" },
      { original: "c > d", why },
    ],
  });
  const text = summarize([
    { file, state: "finished", ...found },
    { file: "src/b.ts", state: "out of time", mutants: 0, survivors: [] },
  ]);
  expect(text).toContain("src/a.ts: 3 mutants, 1 survive, 1 more are explained");
  expect(text).toContain("src/a.ts:2 ConditionalExpression\n    - a < b\n    + true");
  expect(text).not.toContain("c > d");
  expect(text).toContain("src/b.ts: out of time");
  expect(text).toContain("2 files, 1 of them not finished");
});
