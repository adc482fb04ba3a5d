// The text format of metrics (0.0.4). In memory, samples are passed without it.

/** One measurement. The labels exclude the name, and the same series has the same labels object. */
export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
  /** The timestamp in milliseconds since 1970; undefined: the time of the scrape. */
  readonly timestampMs?: number;
}

export type Labels = Readonly<Record<string, string>>;

/** Type and help text of a metric. */
export interface MetricHelp {
  readonly type: "gauge" | "counter";
  readonly help: string;
}

/** Samples as text, grouped by name, with their help text if known. */
export function formatExposition(samples: Iterable<Sample>, help: Readonly<Record<string, MetricHelp>> = {}): string {
  const byName = Map.groupBy(samples, ({ name }) => name);
  const lines = [...byName].flatMap(([name, group]) => {
    const about = help[name];
    const header = about === undefined ? [] : [`# HELP ${name} ${about.help}`, `# TYPE ${name} ${about.type}`];
    return [...header, ...group.map(formatSample)];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function formatSample({ name, labels, value, timestampMs }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  const where = pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
  return timestampMs === undefined ? `${where} ${goNumber(value)}` : `${where} ${goNumber(value)} ${Math.round(timestampMs)}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}

/** As Go prints it: "921600", "1.011712e+06", "+Inf". */
export function goNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const [digits = "", power = "+0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** The text is not in the format. */
export class ExpositionError extends Error {
  readonly code = "SIMULATOR_EXPOSITION";
  override readonly name = "ExpositionError";
}

const samplePattern = /^([a-zA-Z_:][\w:]*)\s*(?:\{(.*)\})?\s+(\S+)(?:\s+(-?\d+))?\s*$/;
const labelPattern = /\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/gy;

/** The samples in a text. @throws ExpositionError for a line that is not a sample */
export function parseExposition(text: string): readonly Sample[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" || line.startsWith("#") ? [] : [parseSample(line)]));
}

function parseSample(line: string): Sample {
  const found = samplePattern.exec(line);
  const value = found === null ? undefined : numberIn(found[3] ?? "");
  if (found === null || value === undefined) throw new ExpositionError(`expected a sample, found ${JSON.stringify(line)}`);
  const [, name = "", labels = "", , timestamp] = found;
  return {
    name,
    labels: parseLabels(labels),
    value,
    ...(timestamp !== undefined && { timestampMs: Number(timestamp) }),
  };
}

function parseLabels(text: string): Labels {
  const labels: Record<string, string> = {};
  let end = 0;
  for (const [whole, name = "", value = ""] of text.matchAll(labelPattern)) {
    labels[name] = value.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    end += whole.length;
  }
  if (text.slice(end).trim() !== "") throw new ExpositionError(`expected labels, found ${JSON.stringify(text.slice(end))}`);
  return labels;
}

function numberIn(text: string): number | undefined {
  if (/^[+-]?inf$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = Number(text);
  return text === "" || Number.isNaN(value) ? undefined : value;
}
