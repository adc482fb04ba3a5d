// For tests of the server: a simulator with a manual clock, and short request helpers.
import type { Transport } from "@memhog/runtime/client";
import { manualEnvironment } from "@memhog/runtime/testing";
import type { ApiObject, JsonObject } from "../json.ts";
import { type SimulatorOptions, startSimulator } from "../simulator.ts";
import type { ApiRequest } from "./core.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever comes
  readonly body: any;
}

export const home = "/api/v1/namespaces/default";

/** A simulator with a manual clock and a fixed random seed. The default service account exists, so that tests can create pods. */
export async function simulated(options: Omit<SimulatorOptions, "environment"> & { readonly seed?: number } = {}) {
  const { seed = 1, ...rest } = options;
  const environment = manualEnvironment({ seed });
  const simulator = await startSimulator({ environment, ...rest });
  const { transport } = simulator;
  const ask = (method: ApiRequest["method"], path: string, body?: unknown, more: Partial<ApiRequest> = {}) =>
    answerOf(transport, method, path, body, more);
  await ask("POST", `${home}/serviceaccounts`, { metadata: { name: "default" } });
  return { simulator, environment, clock: environment.clock, core: simulator.core, ask, watch: watcher(transport) };
}

async function answerOf(
  transport: Transport,
  method: ApiRequest["method"],
  url: string,
  body: unknown,
  more: Partial<ApiRequest>,
): Promise<Answer> {
  const { pathname: path, searchParams } = new URL(url, "http://simulator");
  const headers = { "content-type": "application/json", ...more.headers };
  const query = Object.fromEntries(searchParams);
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const { status, headers: got, body: answer } = await transport.request({ method, path, query, ...text, ...more, headers });
  const said = String(answer);
  return { status, headers: got, body: said.startsWith("{") ? JSON.parse(said) : said };
}

export const mergePatch = { headers: { "content-type": "application/merge-patch+json" } } as const;

export interface Seen {
  readonly type: string;
  readonly object: ApiObject;
}

/** Starts watches that record their events. */
function watcher(transport: Transport) {
  return async (url: string) => {
    const { pathname: path, searchParams } = new URL(url, "http://simulator");
    const query = { watch: "true", ...Object.fromEntries(searchParams) };
    const { body, status } = await transport.request({ method: "GET", path, query, stream: true });
    const seen: Seen[] = [];
    const watch = { seen, ended: false, status };
    const chunks = body as AsyncIterable<Uint8Array>;
    const follow = async () => {
      for await (const chunk of chunks) for (const line of linesIn(chunk)) seen.push(JSON.parse(line));
      watch.ended = true;
    };
    void follow();
    return watch;
  };
}

function linesIn(chunk: Uint8Array): readonly string[] {
  return new TextDecoder().decode(chunk).split("\n").filter(Boolean);
}

/** Summarizes events as "ADDED x" or "BOOKMARK". */
export function summaries(seen: readonly Seen[]): readonly string[] {
  return seen.map(({ type, object }) => (object.metadata.name === undefined ? type : `${type} ${object.metadata.name}`));
}

export const pod = (name: string, more: JsonObject = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "main", image: "example.com/x:1" }], ...more },
});
