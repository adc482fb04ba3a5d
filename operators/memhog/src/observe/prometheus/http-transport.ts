// Sends queries to Prometheus over HTTP. One connection stays open between queries. Redirects are not followed, because they would
// receive the token.

import { readFile } from "node:fs/promises";
import { Agent, request as sendHttp } from "node:http";
import { request as sendHttps, Agent as TlsAgent } from "node:https";
import { dateIn, formType, type PrometheusAnswer, PrometheusError, type PrometheusTransport, queryPath } from "./transport.ts";

/** @throws PrometheusError if the address is malformed */
export function httpTransport(options: PrometheusOptions): PrometheusTransport {
  const address = parseAddress(options.address, queryPath);
  let current: { readonly agent: Agent; readonly ca: string | undefined } | undefined;

  /** New CA certificates need new connections. */
  const agentFor = (ca: string | undefined): Agent => {
    if (current !== undefined && current.ca === ca) return current.agent;
    current?.agent.destroy();
    current = { ca, agent: makeAgent(address, ca) };
    return current.agent;
  };

  return {
    query: async (parameters, signal) => {
      signal.throwIfAborted();
      const { caFile } = options;
      const ca = caFile === undefined ? undefined : await textIn(caFile, "certificates");
      const given = await headersFor(options, address);
      const headers = { accept: "application/json", "user-agent": "memhog-operator", ...given, "content-type": formType };
      const body = new URLSearchParams(parameters).toString();
      return exchange(agentFor(ca), { address, headers, body, signal });
    },
    close: async () => {
      current?.agent.destroy();
      current = undefined;
    },
  };
}

function makeAgent({ origin }: Address, ca: string | undefined): Agent {
  const options = { keepAlive: true, maxSockets: 1 };
  return origin.startsWith("https:") ? new TlsAgent({ ...options, ...(ca !== undefined && { ca }) }) : new Agent(options);
}

interface Exchange {
  readonly address: Address;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

function exchange(agent: Agent, { address, headers, body, signal }: Exchange): Promise<PrometheusAnswer> {
  const { origin, path, shown } = address;
  const failure = (cause: Error): unknown =>
    signal.aborted
      ? signal.reason
      : new PrometheusError("PROMETHEUS_UNREACHABLE", `expected a response from ${shown}, found ${described(cause)}`, { cause });
  const send = origin.startsWith("https:") ? sendHttps : sendHttp;
  return new Promise((resolve, reject) => {
    send(`${origin}${path}`, { agent, method: "POST", headers, signal })
      .on("response", (incoming) => {
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, dateMs: dateIn(headers.date), body: chunksOf(incoming, failure) });
      })
      .on("error", (error) => reject(failure(error)))
      .end(body);
  });
}

/** Waits for the reader instead of filling the memory. A reader that stops early closes the connection. */
async function* chunksOf(incoming: AsyncIterable<Uint8Array>, failure: (cause: Error) => unknown): AsyncGenerator<Uint8Array> {
  try {
    yield* incoming;
  } catch (error) {
    throw failure(error as Error);
  }
}

/** If Node tried several addresses, its AggregateError has no message; the errors of the attempts do. */
function described(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map((each) => described(each)).join("; ");
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** The connection settings. They come from flags only, never from a namespaced object (S3). */
export interface PrometheusOptions {
  /** For example "http://prometheus.monitoring:9090", with a path prefix if there is one. */
  readonly address: string;
  /** File with a bearer token. Read for every query, because tokens are rotated. */
  readonly bearerTokenFile?: string | undefined;
  /** User name for basic authentication. User name and password may be in the address instead. */
  readonly username?: string | undefined;
  /** Read for every query. */
  readonly passwordFile?: string | undefined;
  /** CA certificates in PEM format. @default those of Node.js */
  readonly caFile?: string | undefined;
  /** Sent with every query, for example X-Scope-OrgID. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The parsed address. `shown` has no credentials. */
export interface Address {
  readonly origin: string;
  /** The path of the query API. */
  readonly path: string;
  readonly shown: string;
  readonly userinfo: string | undefined;
}

/** @throws PrometheusError that does not contain the address, which may contain a password */
export function parseAddress(address: string, queryPath: string): Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new PrometheusError("PROMETHEUS_CONFIG", "expected a URL like http://localhost:9090, found something else");
  const prefix = url.pathname.replace(/\/+$/, "");
  const userinfo = url.username === "" ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { origin: url.origin, path: `${prefix}${queryPath}`, shown: `${url.origin}${prefix}`, userinfo };
}

/** @throws PrometheusError if a file cannot be read */
export async function headersFor(
  options: PrometheusOptions,
  { userinfo }: Pick<Address, "userinfo">,
): Promise<Record<string, string>> {
  const own = Object.fromEntries(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const authorization = await authorizationFor(options, userinfo);
  return authorization === undefined ? own : { ...own, authorization };
}

async function authorizationFor(options: PrometheusOptions, userinfo: string | undefined): Promise<string | undefined> {
  const { bearerTokenFile, username, passwordFile } = options;
  if (bearerTokenFile !== undefined) return `Bearer ${await secretIn(bearerTokenFile, "a bearer token")}`;
  if (username !== undefined) {
    const password = passwordFile === undefined ? "" : await secretIn(passwordFile, "a password");
    return basic(`${username}:${password}`);
  }
  return userinfo === undefined ? undefined : basic(userinfo);
}

function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString("base64")}`;
}

async function secretIn(path: string, what: string): Promise<string> {
  const text = (await textIn(path, what)).trim();
  // A line break would allow header injection.
  if (text === "" || /[\r\n]/.test(text))
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} on one line in ${path}, found something else`);
  return text;
}

export async function textIn(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code = "an error" } = cause as NodeJS.ErrnoException;
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} in ${path}, found ${code}`, { cause });
  }
}
