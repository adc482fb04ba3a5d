// Evaluates every row of the tables in docs/ and the README whose first column is "when" with decide().
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decide } from "../decide/decide.ts";
import { quantityText } from "../model/bytes.ts";
import type { Plan } from "../model/plan.ts";
import { situation } from "./situations.fixture.ts";
import { docs } from "./write.ts";

/** How to compute a column from a plan, by its heading. */
const columns: Readonly<Record<string, (plan: Plan) => string>> = {
  decision: (plan) => verdictIn(plan).decision.kind,
  because: (plan) => `\`${verdictIn(plan).decision.reason}\``,
  "becomes (request/limit)": grantedIn,
  "capped by": (plan) => cappedIn(plan),
  "runs out in": (plan) => span(verdictIn(plan).inputs.runsOutInMs),
  "cooldown left": (plan) => span(verdictIn(plan).inputs.cooldownLeftMs || undefined),
  "first step": (plan) => firstStep(plan),
};

const tables = ["../README.md", ...globSync("**/*.md", { cwd: docs })].flatMap((file) =>
  tablesIn(readFileSync(join(docs, file), "utf8")).map((table) => ({ file, ...table })),
);

describe.each(tables)("docs/$file, $heads", ({ heads, rows }) => {
  it.each(rows)("$0: $1 $2", (when, ...cells) => {
    const plan = decide(situation(when));
    const worked = heads.slice(1).map((head) => columns[head]?.(plan) ?? `no such column: ${head}`);
    expect(cells).toEqual(worked);
  });
});

it("finds at least five tables", () => expect(tables.length).toBeGreaterThanOrEqual(5));

interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly [string, ...string[]])[];
}

function tablesIn(markdown: string): readonly Table[] {
  const blocks = markdown.match(/^\| when .*\n(?:\|.*\n?)*/gm) ?? [];
  return blocks.map((block) => {
    const [heads = [], , ...rows] = block.trim().split("\n").map(cellsOf);
    return { heads, rows: rows as unknown as Table["rows"] };
  });
}

function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, line.lastIndexOf("|"))
    .split("|")
    .map((cell) => cell.trim());
}

function verdictIn({ verdicts }: Plan): Plan["verdicts"][number] {
  const [verdict] = verdicts;
  if (verdict === undefined) throw new Error("a world without a container");
  return verdict;
}

function grantedIn(plan: Plan): string {
  const { decision } = verdictIn(plan);
  if (decision.kind === "hold") return "";
  const { request, limit } = decision.granted;
  return `${request === undefined ? "none" : quantityText(request)}/${quantityText(limit)}`;
}

function cappedIn(plan: Plan): string {
  const { decision } = verdictIn(plan);
  return (decision.kind === "hold" ? decision.cap : decision.cappedBy) ?? "";
}

function firstStep({ commands: [command] }: Plan): string {
  if (command === undefined) return "none";
  return command.do === "resize" ? `\`resize\` ${command.step}` : `\`${command.do}\``;
}

const span = (ms: number | undefined): string => (ms === undefined ? "" : `${Math.round(ms / 1000)} s`);
