// Runs one query. The result is samples, or a PrometheusError.
import { type Clock, timeoutSignal } from "@memhog/runtime/concurrency";
import type { Metric } from "../../model/observed-app.ts";
import { type ContainerKey, type RawPoint, SampleStore, shortId } from "./samples.ts";
import type { PrometheusAnswer, PrometheusTransport } from "./transport.ts";
import { PrometheusError } from "./transport.ts";

/** A larger response is rejected. */
const mostBytes = 64 * 1024 * 1024;
/** How much of an error response is read. */
const mostErrorBytes = 16 * 1024;

export interface AskOptions {
  readonly transport: PrometheusTransport;
  readonly clock: Clock;
  /** Milliseconds until the response must be complete. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether the container exists and is monitored. Other series are dropped while reading. */
  readonly isWanted: (key: ContainerKey) => boolean;
}

export interface QueryResult {
  readonly samples: SampleStore;
  /** Series in the response, including dropped ones. */
  readonly series: number;
  /** Not empty if Prometheus reports that the response may be incomplete. */
  readonly warnings: readonly string[];
}

/** @throws PrometheusError, or the signal's reason */
export function ask(question: MemoryQuery, options: AskOptions): Promise<QueryResult> {
  return askFor(promQl(question), options, (answer) => read(answer, question, options));
}

async function askFor<T>(query: string, options: AskOptions, readBody: (answer: PrometheusAnswer) => Promise<T>): Promise<T> {
  const { transport, clock, timeoutMs, signal } = options;
  using limit = timeoutSignal({ clock, timeoutMs, signal, what: "the query to Prometheus" });
  try {
    const answer = await transport.query({ query }, limit.signal);
    return answer.status === 200 ? await readBody(answer) : await refuse(answer);
  } catch (error) {
    if (signal.aborted || error instanceof PrometheusError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new PrometheusError("PROMETHEUS_UNREACHABLE", limit.signal.aborted ? late(timeoutMs) : why, { cause: error });
  }
}

const late = (timeoutMs: number) => `expected a response from Prometheus within ${timeoutMs / 1000} s, found none`;

/** Anything may be in a series: it comes from whatever Prometheus scrapes. A malformed one is dropped, and the others are used. */
interface Series {
  readonly metric?: unknown;
  readonly values?: unknown;
}

interface Envelope {
  readonly status?: string;
  readonly error?: string;
  readonly errorType?: string;
  readonly warnings?: unknown;
  readonly data?: { readonly resultType?: string };
}

async function read(answer: PrometheusAnswer, question: MemoryQuery, { clock, isWanted }: AskOptions): Promise<QueryResult> {
  const samples = new SampleStore(clock, answer.dateMs);
  return { samples, ...(await scan(answer, "matrix", (json) => take(json, question, samples, isWanted))) };
}

/** Runs a query whose result is one value per series. @throws PrometheusError, or the signal's reason */
export function vectorOf(
  query: string,
  options: AskOptions,
  onValue: (metric: Readonly<Record<string, unknown>>, value: number) => void,
): Promise<Omit<QueryResult, "samples">> {
  const takeOne = (json: string) => {
    const { metric, value } = (parsed(json) ?? {}) as { readonly metric?: unknown; readonly value?: unknown };
    if (typeof metric === "object" && metric !== null && isPoint(value)) onValue({ ...metric }, Number(value[1]));
  };
  return askFor(query, options, (answer) => scan(answer, "vector", takeOne));
}

async function scan(
  answer: PrometheusAnswer,
  resultType: "matrix" | "vector",
  onSeries: (json: string) => void,
): Promise<Omit<QueryResult, "samples">> {
  let series = 0;
  const splitter = new AnswerSplitter((json) => {
    series += 1;
    onSeries(json);
  });
  await feed(answer.body, splitter, mostBytes);
  const envelope = envelopeIn(splitter.end());
  if (envelope?.status !== "success" || envelope.data?.resultType !== resultType) throw notPrometheus(200, envelope);
  const { warnings = [] } = envelope;
  // Whatever it is, a warning means that the response may be incomplete.
  return { series, warnings: Array.isArray(warnings) ? warnings.map(String) : [JSON.stringify(warnings)] };
}

function take(json: string, { labels }: MemoryQuery, samples: SampleStore, isWanted: AskOptions["isWanted"]): void {
  const { metric, values } = (parsed(json) ?? {}) as Series;
  if (typeof metric !== "object" || metric === null || !Array.isArray(values)) return;
  const label = (name: string) => textIn((metric as Readonly<Record<string, unknown>>)[name]);
  const kind = metricOf(label("__name__"));
  const [namespace, pod, container] = [label("namespace"), label(podLabel[labels]), label(containerLabel[labels])];
  if (kind === undefined || namespace === undefined || pod === undefined || container === undefined) return;
  const key = { namespace, pod, container };
  // cAdvisor has the container ID in `name` and in the cgroup path in `id` (…/cri-containerd-ID.scope with systemd).
  if (isWanted(key)) samples.add(kind, key, values.filter(isPoint), shortId(label("name")) ?? shortId(label("id")));
}

export const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function isPoint(point: unknown): point is RawPoint {
  return Array.isArray(point) && typeof point[0] === "number" && typeof point[1] === "string";
}

function metricOf(name: string | undefined): Metric | undefined {
  if (name === metricNames.WorkingSet) return "WorkingSet";
  return name === metricNames.Usage ? "Usage" : undefined;
}

async function feed(body: PrometheusAnswer["body"], splitter: AnswerSplitter, most: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of typeof body === "string" ? [Buffer.from(body)] : body) {
    bytes += chunk.byteLength;
    if (bytes > most) throw new PrometheusError("PROMETHEUS_TOO_LARGE", tooLarge);
    splitter.push(chunk);
  }
}

const tooLarge = `expected a response of at most ${mostBytes / 1024 / 1024} MiB from Prometheus, found more`;

async function refuse(answer: PrometheusAnswer): Promise<never> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of typeof answer.body === "string" ? [Buffer.from(answer.body)] : answer.body) {
    parts.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > mostErrorBytes) break;
  }
  throw notPrometheus(answer.status, envelopeIn(Buffer.concat(parts).toString("utf8")));
}

/** Quotes only errors in the format of Prometheus: any other response may contain secrets (S4). */
function notPrometheus(status: number, envelope: Envelope | undefined): PrometheusError {
  const expected = "expected samples from Prometheus, found";
  if (envelope?.status === "error")
    return new PrometheusError(
      "PROMETHEUS_REFUSED",
      `${expected} HTTP ${status}, ${envelope.errorType}: ${shortened(envelope.error)}`,
    );
  if (status >= 300 && status < 400)
    return new PrometheusError(
      "PROMETHEUS_NOT_PROMETHEUS",
      `${expected} a redirect (HTTP ${status}); set --prometheus-addr to its target`,
    );
  if (status === 200)
    return new PrometheusError("PROMETHEUS_NOT_PROMETHEUS", `${expected} a response that is not from Prometheus (HTTP 200)`);
  return new PrometheusError("PROMETHEUS_REFUSED", `${expected} HTTP ${status}`);
}

const shortened = (text = "") => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

function envelopeIn(text: string): Envelope | undefined {
  const value = parsed(text);
  return typeof value === "object" && value !== null ? value : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

// The query. A range selector evaluated at one instant returns the raw samples of the last two minutes with their times: usage, age and
// trend of all pods in one query. An instant selector would hide the age of a value, which can be five minutes.
//
// The metric and the labels depend on the cluster, and an empty response does not say whether they are wrong. So they are probed:
//
//     1. container_memory_working_set_bytes{container!="",container!="POD",namespace="shop"}[2m]
//     2. the same together with container_memory_usage_bytes, if an AppMonitor uses it or 1. returns nothing
//     3. the same with the labels pod_name and container_name (before Kubernetes 1.16), occasionally while 2. returns nothing

/** The range of the query. A trend needs two samples, also with a scrape interval of one minute. */
export const windowMs = 120_000;

export const metricNames: Readonly<Record<Metric, string>> = {
  WorkingSet: "container_memory_working_set_bytes",
  Usage: "container_memory_usage_bytes",
};

export interface MemoryQuery {
  readonly metrics: readonly Metric[];
  /** The label names of pod and container: those since Kubernetes 1.16, or the old ones. */
  readonly labels: "new" | "old";
  /** "all", or the namespaces with annotated pods. */
  readonly namespaces: readonly string[] | "all";
  /** From --prometheus-matcher. @default none */
  readonly matchers?: readonly Matcher[];
}

/** A label matcher of the operator's flags: job="kubelet". Never from a namespaced object (S3). */
export interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** With more namespaces, the query is for all namespaces. */
const mostNamespaces = 100;
/** While queries return nothing, every fifth query uses the other label names. */
const oldLabelsEvery = 5;

export interface QueryHistory {
  /** An AppMonitor uses the metric Usage. */
  readonly wantsUsage: boolean;
  /** Namespaces with annotated pods. */
  readonly namespaces: readonly string[];
  /** The last query that returned series. */
  readonly worked: Pick<MemoryQuery, "metrics" | "labels"> | undefined;
  /** Number of consecutive queries that returned no series. */
  readonly empty: number;
}

export function nextQuery({ wantsUsage, namespaces, worked, empty }: QueryHistory): MemoryQuery {
  const asked = boundedNamespaces(namespaces);
  const both = wantsUsage || empty > 0 || worked?.metrics.includes("Usage") === true;
  // Labels that worked once are given up only after many empty responses, because pods come and go but labels do not change.
  const isSearching = empty > (worked === undefined ? 0 : 4 * oldLabelsEvery);
  const other = worked?.labels === "old" ? "new" : "old";
  const labels = isSearching && empty % oldLabelsEvery === oldLabelsEvery - 1 ? other : (worked?.labels ?? "new");
  return { metrics: both ? ["WorkingSet", "Usage"] : ["WorkingSet"], labels, namespaces: asked };
}

export function boundedNamespaces(namespaces: readonly string[]): MemoryQuery["namespaces"] {
  return namespaces.length > mostNamespaces ? "all" : [...namespaces].sort();
}

/** The PromQL text. Namespace names are the only part that comes from objects in the cluster, and they are escaped (S3). */
export function promQl(query: MemoryQuery): string {
  return `${selectorOf(query)}[${windowMs / 1000}s]`;
}

export function selectorOf({ metrics, labels, namespaces, matchers: more = [] }: MemoryQuery): string {
  const names = metrics.map((metric) => metricNames[metric]);
  const container = containerLabel[labels];
  const matchers = [
    ...(names.length > 1 ? [`__name__=~${quoted(names.join("|"))}`] : []),
    `${container}!=""`,
    `${container}!="POD"`,
    ...namespaceMatcher(namespaces),
    ...more.map(({ label, operator, value }) => `${label}${operator}${quoted(value)}`),
  ];
  return `${names.length > 1 ? "" : (names[0] ?? "")}{${matchers.join(",")}}`;
}

export const podLabel = { new: "pod", old: "pod_name" } as const;
export const containerLabel = { new: "container", old: "container_name" } as const;

function namespaceMatcher(namespaces: MemoryQuery["namespaces"]): readonly string[] {
  if (namespaces === "all") return [];
  const [only = "", ...others] = namespaces;
  // Without namespaces the query matches nothing but still checks that Prometheus is available.
  if (others.length === 0) return [`namespace=${quoted(only)}`];
  return [`namespace=~${quoted(namespaces.map(escaped).join("|"))}`];
}

/** A PromQL string. PromQL uses the escapes of Go, which include those of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Escapes text for use in a regular expression. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

// A response may contain 100,000 series. Parsing it as one JSON value would block the event loop for a second and could lose the Lease.
// So the incoming bytes are only scanned for the boundaries of series, and each series is parsed on its own. The rest of the response,
// with an empty result list, is parsed at the end. Anything else in the list is dropped: it must not cost the whole response.
//
//     {"status":"success","data":{"resultType":"matrix","result":[ {…} , {…} , … ]},"warnings":["…"]}
//     depth 1             2                                      3 └──┴ series: an object in a list at depth 3
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];
const seriesDepth = 3;
/** An upper bound for a valid series: its labels and two minutes of samples. */
const longestSeries = 1024 * 1024;

export class AnswerSplitter {
  readonly #onSeries: (json: string) => void;
  readonly #rest: Buffer[] = [];
  /** The start of an incomplete series. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inSeries = false;
  /** Inside the result list, whose elements are not part of the rest. */
  #inList = false;

  /** @param onSeries Called with the JSON of each element of the result. */
  constructor(onSeries: (json: string) => void) {
    this.#onSeries = onSeries;
  }

  push(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inText = false;
      } else if (byte === quote) this.#inText = true;
      else if (byte === openBrace || byte === openBracket) {
        if (byte === openBrace && this.#depth === seriesDepth && this.#inList) {
          this.#inSeries = true;
          from = at;
        }
        this.#depth += 1;
        if (byte === openBracket && this.#depth === seriesDepth) {
          this.#keep(chunk.subarray(from, at + 1));
          this.#inList = true;
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        if (this.#inList && this.#depth === seriesDepth) {
          this.#inList = false;
          from = at;
        }
        this.#depth -= 1;
        if (this.#inSeries && this.#depth === seriesDepth) {
          this.#finishSeries(chunk.subarray(from, at + 1));
          from = at + 1;
        }
      }
    }
    this.#keep(chunk.subarray(from));
  }

  /** The response without its series. */
  end(): string {
    return Buffer.concat([...this.#rest, ...this.#begun]).toString("utf8");
  }

  #finishSeries(last: Buffer): void {
    this.#inSeries = false;
    this.#onSeries(Buffer.concat([...this.#begun, last]).toString("utf8"));
    this.#begun = [];
    this.#begunBytes = 0;
  }

  #keep(part: Buffer): void {
    if (!this.#inSeries) {
      // Copied, because a subarray keeps its whole chunk alive.
      if (part.length > 0 && !this.#inList) this.#rest.push(Buffer.from(part));
    } else {
      this.#begunBytes += part.length;
      // Too long for a series: dropped, so that parsing fails later.
      if (this.#begunBytes <= longestSeries) this.#begun.push(part);
    }
  }
}
