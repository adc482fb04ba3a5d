// Tables of Markdown as the formatter of this repository likes them: columns as wide as their widest cell. Pages that are made by
// the program must be what the formatter would make of them, or each would undo the work of the other.

/** The same text, with every table aligned. */
export function aligned(markdown: string): string {
  const blocks = markdown.split("\n").reduce<string[][]>((sum, line) => {
    const last = sum.at(-1);
    if (last !== undefined && isRow(line) && isRow(last[0] ?? "")) last.push(line);
    else sum.push([line]);
    return sum;
  }, []);
  return blocks.flatMap((block) => (isRow(block[0] ?? "") ? alignedTable(block) : block)).join("\n");
}

const isRow = (line: string): boolean => line.startsWith("| ");

function alignedTable(lines: readonly string[]): readonly string[] {
  const rows = lines.map(cellsOf);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => {
    const cells = widths.map((width, column) => padded(row[column] ?? "", width));
    return `| ${cells.join(" | ")} |`;
  });
}

const padded = (cell: string, width: number): string => (cell === "---" ? "-".repeat(width) : cell.padEnd(width));

/** A `\|` is a part of its cell. */
function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, line.lastIndexOf("|"))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
