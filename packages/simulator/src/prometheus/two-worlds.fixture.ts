// Feeds a real and a simulated Prometheus the same samples. The real one scrapes a server of the test; the simulated one gets
// the same text at the scrape times that the real one reports. Then both can be queried.
import { manualEnvironment } from "@memhog/runtime/testing";
import { type Answer, serve } from "./http.ts";
import { type SimulatedPrometheus, startPrometheus } from "./prometheus.ts";
import { textAt as everything } from "./questions.fixture.ts";
import { type RealPrometheus, startRealPrometheus } from "./real-prometheus.fixture.ts";

export type Asked = Readonly<Record<string, string>>;

export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** What a Prometheus scraped, and when; without a text the target was down. */
export type Story = readonly { readonly time: number; readonly text?: string | undefined }[];

export interface TwoWorlds extends AsyncDisposable {
  readonly story: Story;
  readonly real: (path: string, query: Asked) => Promise<Answered>;
  readonly ours: (path: string, query: Asked) => Promise<Answered>;
  /** The time of the last compared scrape, in milliseconds since 1970. */
  readonly end: number;
}

export interface World {
  /** The text that the server returns at the nth scrape; undefined: it fails. */
  readonly textAt: (n: number, now: number) => string | undefined;
  /** The number of compared scrapes. The real one continues, and the server fails. */
  readonly scrapes: number;
}

/** Takes as many seconds as there are scrapes. */
export async function twoWorlds({ textAt, scrapes }: World = { textAt: everything, scrapes: 15 }): Promise<TwoWorlds> {
  const told: string[] = [];
  const enough = Promise.withResolvers<void>();
  const answer: Answer = () => {
    const n = told.length;
    const text = n < scrapes ? textAt(n, Date.now()) : undefined;
    told.push(text ?? "");
    if (n > scrapes) enough.resolve();
    return { status: text === undefined ? 500 : 200, headers: { "content-type": "text/plain; version=0.0.4" }, body: text ?? "" };
  };
  await using started = new AsyncDisposableStack();
  const server = started.use(await serve(answer));
  const real = started.use(await startRealPrometheus(`127.0.0.1:${server.port}`));
  await enough.promise;
  const heard = (await whatWasHeard(real)).slice(0, scrapes);
  const story = heard.map(({ time, n }) => ({ time, ...(n !== undefined && { text: told[n] }) }));
  const ours = await tell(story);
  // From here on the caller disposes of them; an earlier error disposes of them here.
  const running = started.move();
  return {
    story,
    end: endOf(story),
    real: (path, query) => ask(real.url, path, query),
    ours: (path, query) => askOurs(ours, path, query),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The scrape times of the real one, and the text of each; undefined if the scrape failed. */
async function whatWasHeard({
  url,
}: RealPrometheus): Promise<readonly { readonly time: number; readonly n: number | undefined }[]> {
  const points = async (query: string) => {
    const { body } = await ask(url, "/api/v1/query", { query });
    const { data } = body as { data: { result: { values: [number, string][] }[] } };
    return data.result[0]?.values.map(([seconds, value]) => [Math.round(seconds * 1_000), Number(value)] as const) ?? [];
  };
  const numbers = new Map(await points("scrape_number[10m]"));
  return (await points("up[10m]")).map(([time]) => ({ time, n: numbers.get(time) }));
}

export function endOf(story: Story): number {
  return story.at(-1)?.time ?? 0;
}

/** The simulated Prometheus with the same samples at the same times. */
export async function tell(story: Story): Promise<SimulatedPrometheus> {
  const environment = manualEnvironment({ now: story[0]?.time ?? 0 });
  let now: string | undefined;
  const scrape = () => {
    if (now === undefined) throw new Error("500");
    return now;
  };
  const targets = [{ labels: { job: "test", instance: "one" }, scrape }];
  const ours = startPrometheus({ environment, targets, intervalMs: 1e9 });
  for (const { time, text } of story) {
    await environment.clock.advance(time - environment.clock.now());
    now = text;
    await ours.scrape();
  }
  return ours;
}

async function ask(url: string, path: string, query: Asked): Promise<Answered> {
  const answer = await fetch(`${url}${path}?${new URLSearchParams(query)}`);
  return { status: answer.status, body: await answer.json() };
}

export async function askOurs(ours: SimulatedPrometheus, path: string, query: Asked): Promise<Answered> {
  const { status, body } = await ours.request({ method: "GET", path, query });
  return { status, body: JSON.parse(body as string) };
}

/** A response in comparable form: series sorted, values rounded to 12 digits. */
export function comparable({ status, body }: Answered): object {
  const { data, ...rest } = body as { data?: { resultType: string; result: unknown } };
  const isList = data !== undefined && (data.resultType === "vector" || data.resultType === "matrix");
  if (!isList || !Array.isArray(data.result)) return { ...rest, data: rounded(data), code: status };
  const result = data.result.map((each) => JSON.stringify(rounded(each))).sort();
  return { ...rest, resultType: data.resultType, result, code: status };
}

function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(fields.map(([key, each]) => [key, key === "metric" ? each : rounded(each)]));
  }
  return typeof value === "string" && /^-?\d/.test(value) ? Number(value).toPrecision(12) : value;
}
