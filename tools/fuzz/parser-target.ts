// Feeds random texts to everything that parses bytes from outside: kubeconfigs, lists, watches, refusals, quantities, durations,
// selectors, flags, request targets, answers of Prometheus, stored records. Findings are: an error of an undocumented type, an
// error that repeats a secret, seconds of work for a few kilobytes, or another result than that of a second opinion (JSON.parse, or
// parsing the formatted value again).
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { program } from "@memhog/memhog-operator";
import { ask, readRecord } from "@memhog/memhog-operator/testing";
import { createClient, Pod, systemEnvironment } from "@memhog/runtime";
import { ClientError, loadConfig, type Transport } from "@memhog/runtime/client";
import { isAllowedHost, parseTarget } from "@memhog/runtime/http";
import {
  DurationError,
  formatSelector,
  parseDuration,
  parseQuantity,
  parseSelector,
  SelectorError,
} from "@memhog/runtime/objects";
import { parseAddress, parseCommandLine } from "@memhog/runtime/operator";
import { parseDocument } from "yaml";
import { Finding, pick, type Random, type Target, whole } from "./engine.ts";
import { chunksOf, mutated, randomJson } from "./texts.ts";

/** Tries one text. Returns what was tried, for the report. */
type Parser = (random: Random) => Promise<string> | string;

/** Far above what any input needs on a busy machine; a quadratic parser needs minutes. */
const slowMs = 5_000;

export async function parserTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "memhog-fuzz-"));
  const parsers: Readonly<Record<string, Parser>> = { ...texts, ...wire, ...stored, kubeconfig: kubeconfigIn(folder) };
  const counts = new Map<string, number>();
  return {
    async attempt(random) {
      const name = pick(random, Object.keys(parsers));
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const since = performance.now();
      const tried = await (parsers[name] as Parser)(random);
      if (performance.now() - since > slowMs)
        throw new Finding(`${name}: takes seconds\n${JSON.stringify(tried.slice(0, 2000))}`);
    },
    summary: () => [...counts].map(([name, count]) => `${count} × ${name}`).join(", "),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Calls a parser that may throw errors with one of these codes only, and never with the word "canary". */
async function only<T>(
  name: string,
  text: string,
  codes: readonly string[],
  parse: () => Promise<T> | T,
): Promise<T | undefined> {
  try {
    return await parse();
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const described = error instanceof Error ? `${error.name}: ${error.message.slice(0, 500)}` : String(error);
    if (code === undefined || !codes.includes(code)) throw new Finding(`${name}: throws ${described}\n${JSON.stringify(text)}`);
    // Command lines are repeated as a whole: who typed them reads the error.
    if (described.length > 490 && name !== "flags" && name !== "address")
      throw new Finding(`${name}: an error of pages
${JSON.stringify(text)}`);
    return undefined;
  }
}

function expectSame(name: string, text: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  const both = `found    ${JSON.stringify(found)?.slice(0, 1000)}\nexpected ${JSON.stringify(expected)?.slice(0, 1000)}`;
  throw new Finding(`${name}: another result than the second opinion\n${both}\n${JSON.stringify(text)}`);
}

const texts: Readonly<Record<string, Parser>> = {
  quantity: async (random) => {
    const text = mutated(random, [
      "500m",
      "1.5Gi",
      "12e6",
      "+0.001",
      "1Ki",
      "-3E",
      "1e-9",
      ".5",
      "128974848",
      "9223372036854775807Ei",
    ]);
    const parsed = await only("quantity", text, ["QUANTITY_INVALID"], () => parseQuantity(text));
    const shown = parsed && (await only("quantity", text, ["DECIMAL_RANGE"], () => String(parsed)));
    if (shown !== undefined) expectSame("quantity", text, String(parseQuantity(shown)), shown);
    return text;
  },
  duration: async (random) => {
    const text = mutated(random, ["1h30m", "300ms", "-1.5h", "0", "1us", "2562047h47m16s"]);
    await only("duration", text, [new DurationError("", "").code], () => parseDuration(text));
    return text;
  },
  selector: async (random) => {
    const text = mutated(random, ["a=b", "a in (b, c),!d", "x/y notin (z)", "a,b!=c", "n>5", "in in (in)"]);
    const parsed = await only("selector", text, [new SelectorError("").code], () => parseSelector(text));
    if (parsed !== undefined) expectSame("selector", text, parseSelector(formatSelector(parsed)), parsed);
    return text;
  },
  flags: async (random) => {
    const argv = Array.from({ length: whole(random, 5) }, () =>
      mutated(random, [
        "--interval=15s",
        "-n",
        "default",
        "-v=2",
        "--prometheus-addr",
        "http://x:1",
        "--prometheus-header=a=b",
        "--",
        "explain",
      ]),
    );
    await only("flags", argv.join("\u0001"), ["FLAGS"], () => parseCommandLine(program, argv));
    return argv.join(" ");
  },
  address: async (random) => {
    const text = mutated(random, [":8080", "127.0.0.1:8080", "[::1]:8080", "localhost:80", "0"]);
    await only("address", text, ["ADDRESS"], () => parseAddress(text));
    return text;
  },
  target: (random) => {
    const text = mutated(random, ["/metrics", "//x/y", "http://a/b?c=d", "*", "/%zz", "/a#b"]);
    const url = parseTarget(text);
    if (url !== undefined && !url.pathname.startsWith("/"))
      throw new Finding(`target: a path without a slash\n${JSON.stringify(text)}`);
    isAllowedHost(mutated(random, ["localhost:8080", "[::1]:80", "127.0.0.1", "a.example.", "[fd00::1]"]));
    return text;
  },
};

/** A client whose server answers every request with this. */
function clientOf(status: number, body: string | readonly Buffer[]) {
  const chunks = async function* () {
    yield* body as readonly Buffer[];
  };
  const answer = { status, headers: {}, body: typeof body === "string" ? body : chunks() };
  const transport: Transport = { request: async () => answer };
  return createClient({ transport, environment: systemEnvironment(), rateLimit: { qps: 1e6, burst: 1e6 } });
}

const clientCodes = ["ANSWER_NOT_UNDERSTOOD", "WATCH_BROKEN", "TRANSPORT_FAILED"];
const listed = [
  '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","managedFields":[{"x":[1]}]}},{"metadata":{"name":"b"},"x":{"items":[1]}}]}',
  '{"metadata":{},"items":null}',
  '{"items" : [ {"metadata":{}} , {} ],"metadata":{"resourceVersion":"1"},"x":{"items":[{}]}}',
];

const wire: Readonly<Record<string, Parser>> = {
  list: async (random) => {
    const text = random() < 0.7 ? mutated(random, listed) : JSON.stringify(randomJson(random, 5));
    const found: object[] = [];
    const client = clientOf(200, chunksOf(random, text));
    const scanned = await only("list", text, clientCodes, () => client.scan?.(Pod, (object) => void found.push(object)));
    const expected = itemsIn(Buffer.from(text).toString());
    if (scanned !== undefined && expected !== undefined) expectSame("list", text, found.map(plain), expected.map(plain));
    if (scanned === undefined && expected !== undefined)
      throw new Finding(`list: rejects what JSON.parse takes\n${JSON.stringify(text)}`);
    return text;
  },
  watch: async (random) => {
    const line =
      '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"1","resourceVersion":"1"}}}\n';
    const text = mutated(random, [line + line, `${line}{"type":"ERROR","object":{"kind":"Status","code":410}}\n`, line]);
    const errors = [...clientCodes, "API_EXPIRED", "API_ERROR", "API_INTERNAL"];
    await only("watch", text, errors, async () => Array.fromAsync(clientOf(200, chunksOf(random, text)).watch(Pod)));
    return text;
  },
  refusal: async (random) => {
    const json = {
      kind: "Status",
      ...(randomJson(random, 3) as object),
      reason: pick(random, ["constructor", "Invalid", "", {}, null]),
    };
    const text =
      random() < 0.5
        ? JSON.stringify({ ...json, message: randomJson(random, 1), details: randomJson(random, 3) })
        : mutated(random, ["<html><title>x</title>", "no", "{"]);
    const error = await clientOf(pick(random, [400, 403, 404, 409, 418, 422]), text)
      .get(Pod, { name: "a", namespace: "b" })
      .catch((caught: unknown) => caught);
    if (!(error instanceof ClientError) || error.message.length > 10_000)
      throw new Finding(`refusal: not an error of the client\n${JSON.stringify(text)}`);
    return text;
  },
};

/** JSON.parse takes the last of two equal names, the reader rejects some of them. No server sends any. */
function repeatsNames(text: string): boolean {
  return parseDocument(text, { logLevel: "silent" }).errors.some(({ code }) => code === "DUPLICATE_KEY");
}

/** The items of a list by JSON.parse; undefined if it is none. */
function itemsIn(text: string): readonly object[] | undefined {
  try {
    const { items, metadata } = JSON.parse(text) as { items?: unknown; metadata?: unknown };
    const isObject = (item: unknown) => typeof item === "object" && item !== null && !Array.isArray(item);
    const isList = isObject(metadata) && (items === null || (Array.isArray(items) && items.every(isObject)));
    return isList && !repeatsNames(text) ? ((items ?? []) as object[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Without what the reader adds or leaves out. */
function plain(object: object): object {
  const {
    apiVersion: _,
    kind: __,
    metadata,
    ...rest
  } = object as { apiVersion?: unknown; kind?: unknown; metadata?: object | null };
  const { managedFields: ___, ...kept } = (
    typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) ? metadata : {}
  ) as { managedFields?: unknown };
  return { ...rest, metadata: kept };
}

const stored: Readonly<Record<string, Parser>> = {
  record: (random) => {
    const status = randomJson(random, 5);
    readRecord({ metadata: {}, spec: { app: "Pod/a" }, status } as Parameters<typeof readRecord>[0]);
    return JSON.stringify(status);
  },
  prometheus: async (random) => {
    const text = mutated(random, [
      '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"namespace":"a","pod":"b","container":"c"},"values":[[1,"2"],[3,"4"]]}]}}',
      '{"status":"error","errorType":"x","error":"y"}',
    ]);
    const { clock } = systemEnvironment();
    const body = async function* () {
      yield* chunksOf(random, text);
    };
    const transport = { query: async () => ({ status: 200, dateMs: 0, body: body() }) };
    const options = { transport, clock, timeoutMs: 60_000, signal: new AbortController().signal, isWanted: () => true };
    const codes = ["PROMETHEUS_NOT_PROMETHEUS", "PROMETHEUS_REFUSED", "PROMETHEUS_TOO_LARGE"];
    await only("prometheus", text, codes, () => ask({ metrics: ["WorkingSet"], labels: "new", namespaces: "all" }, options));
    return text;
  },
};

const kubeconfig = `current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters:
- name: k
  cluster: {server: "https://a:6443", insecure-skip-tls-verify: true}
users:
- name: u
  user: {username: x, password: canary}
`;

function kubeconfigIn(folder: string): Parser {
  return async (random) => {
    const user = randomJson(random, 3);
    const whole = { ...(randomJson(random, 2) as object), users: [{ name: "u", user }], clusters: [randomJson(random, 3)] };
    const text =
      random() < 0.7 ? mutated(random, [kubeconfig, kubeconfig.replace("canary", "!x canary")]) : JSON.stringify(whole);
    const path = join(folder, "config");
    await writeFile(path, text);
    await only("kubeconfig", text, ["CLIENT_CONFIG"], () => loadConfig({ kubeconfig: path, env: {} }));
    return text;
  };
}
