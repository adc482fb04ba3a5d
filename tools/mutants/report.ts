// From Stryker's report to the survivors that need an explanation.

/** The part of Stryker's JSON report that is used. */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Lines and columns from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Identified by its text, so that it is still known after lines moved. */
export interface KnownSurvivor {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  /** Why no test can notice it, or why none should. */
  readonly why: string;
}

export interface Survivor {
  readonly line: number;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  /** From the list of known survivors. */
  readonly why?: string;
}

export interface FileReport {
  readonly file: string;
  readonly state: "finished" | "failed" | "out of time" | "not started";
  readonly mutants: number;
  readonly survivors: readonly Survivor[];
}

/** A mutant that no test covers survives, too. */
const surviving = new Set(["Survived", "NoCoverage"]);

export function survivorsIn(
  file: string,
  { files }: StrykerReport,
  known: readonly KnownSurvivor[],
): Pick<FileReport, "mutants" | "survivors"> {
  const { source = "", mutants = [] } = files[file] ?? {};
  const survivors = mutants
    .filter(({ status }) => surviving.has(status))
    .map(({ mutatorName, replacement = "", location }) => {
      const original = textAt(source, location);
      const found = known.find((one) => one.file === file && one.original === original && one.replacement === replacement);
      return { line: location.start.line, mutator: mutatorName, original, replacement, ...(found && { why: found.why }) };
    });
  return { mutants: mutants.length, survivors };
}

function textAt(source: string, { start, end }: Mutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] ?? "").slice(0, end.column - 1);
  lines[0] = (lines[0] ?? "").slice(start.column - 1);
  return lines.join("\n");
}

/** One paragraph per file, then the totals. */
export function summarize(reports: readonly FileReport[]): string {
  const paragraphs = reports.map(({ file, state, mutants, survivors }) => {
    const open = survivors.filter(({ why }) => why === undefined);
    const lines = open.map((one) => `  ${file}:${one.line} ${one.mutator}\n    - ${one.original}\n    + ${one.replacement}`);
    const explained = survivors.length - open.length;
    const counts = `${mutants} mutants, ${open.length} survive, ${explained} more are explained`;
    return [`${file}: ${state === "finished" ? counts : state}`, ...lines].join("\n");
  });
  const unfinished = reports.filter(({ state }) => state !== "finished").length;
  return [...paragraphs, `${reports.length} files, ${unfinished} of them not finished`].join("\n");
}
