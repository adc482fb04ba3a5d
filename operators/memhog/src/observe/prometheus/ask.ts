// One question and what became of it: samples, or a PrometheusError that says why there are none.
import { type Clock, timeoutSignal } from "@memhog/runtime";
import type { Metric } from "../../model/policy.ts";
import { PrometheusError } from "./errors.ts";
import { containerLabel, metricNames, podLabel, promQl, type Question } from "./question.ts";
import { type ContainerKey, type RawPoint, SampleStore, shortId } from "./samples.ts";
import { AnswerSplitter } from "./split-answer.ts";
import type { PrometheusAnswer, PrometheusTransport } from "./transport.ts";

/** An answer that is larger is not read: it is not what was asked for. */
const mostBytes = 64 * 1024 * 1024;
/** Of an answer that is an error, so much is looked at. */
const mostErrorBytes = 16 * 1024;

export interface AskOptions {
  readonly transport: PrometheusTransport;
  readonly clock: Clock;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Which containers there are: all other series are dropped as they come in. */
  readonly isWanted: (key: ContainerKey) => boolean;
}

export interface Heard {
  readonly samples: SampleStore;
  /** Series in the answer, whoever they are of. */
  readonly series: number;
  /** The answer is only a part, says Prometheus; why. */
  readonly warnings: readonly string[];
}

/** @throws PrometheusError, or the signal's reason */
export async function ask(question: Question, options: AskOptions): Promise<Heard> {
  const { transport, clock, timeoutMs, signal } = options;
  using limit = timeoutSignal({ clock, timeoutMs, signal, what: "the question to Prometheus" });
  try {
    const answer = await transport.query({ query: promQl(question) }, limit.signal);
    return answer.status === 200 ? await read(answer, question, options) : await refuse(answer);
  } catch (error) {
    if (signal.aborted || error instanceof PrometheusError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new PrometheusError("PROMETHEUS_UNREACHABLE", limit.signal.aborted ? late(timeoutMs) : why, { cause: error });
  }
}

const late = (timeoutMs: number) => `expected an answer from Prometheus within ${timeoutMs / 1000} s, found none`;

interface Series {
  readonly metric?: Readonly<Record<string, string>>;
  readonly values?: readonly RawPoint[];
}

interface Envelope {
  readonly status?: string;
  readonly error?: string;
  readonly errorType?: string;
  readonly warnings?: readonly string[];
  readonly data?: { readonly resultType?: string };
}

async function read(answer: PrometheusAnswer, question: Question, { clock, isWanted }: AskOptions): Promise<Heard> {
  const samples = new SampleStore(clock, answer.dateMs);
  let series = 0;
  const splitter = new AnswerSplitter((json) => {
    series += 1;
    take(json, question, samples, isWanted);
  });
  await feed(answer.body, splitter, mostBytes);
  const envelope = envelopeIn(splitter.end());
  if (envelope?.status !== "success" || envelope.data?.resultType !== "matrix") throw notPrometheus(200, envelope);
  return { samples, series, warnings: envelope.warnings ?? [] };
}

function take(json: string, { labels }: Question, samples: SampleStore, isWanted: AskOptions["isWanted"]): void {
  const { metric = {}, values = [] } = (parsed(json) ?? {}) as Series;
  const kind = metricOf(metric.__name__);
  const { namespace, [podLabel[labels]]: pod, [containerLabel[labels]]: container } = metric;
  if (kind === undefined || namespace === undefined || pod === undefined || container === undefined) return;
  const key = { namespace, pod, container };
  // cAdvisor has the id of a container as `name`, and in `id`, the path of its cgroup (…/cri-containerd-ID.scope on systemd).
  if (isWanted(key)) samples.add(kind, key, values, shortId(metric.name) ?? shortId(metric.id));
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

const tooLarge = `expected an answer of at most ${mostBytes / 1024 / 1024} MiB from Prometheus, found more`;

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

/** Only what a Prometheus would say is repeated: a page of somebody else may have anything in it. */
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
      `${expected} a redirect (HTTP ${status}): give the address it leads to`,
    );
  if (status === 200)
    return new PrometheusError("PROMETHEUS_NOT_PROMETHEUS", `${expected} an answer that is not Prometheus's (HTTP 200)`);
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
