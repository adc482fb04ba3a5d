// A minimal client for tests: one request, one JSON response, over persistent connections. No watches: a test polls
// (eventually.ts). The full client is in @memhog/runtime, whose own tests use this package.
import { readFile } from "node:fs/promises";
import { Agent, request as httpsRequest } from "node:https";
import { parse } from "yaml";
import { ApiError, ApiUnreachableError } from "../errors.ts";

export interface Api {
  readonly server: string;
  /** The certificate authority of the server, as PEM. */
  readonly authority: string;
  /** Resolves with the parsed response; rejects with ApiError or ApiUnreachableError. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  close(): void;
}

export interface RequestOptions {
  /** @default "application/json"; for PATCH "application/merge-patch+json" */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

/** A client for a kubeconfig that localcluster wrote (control-plane/pki.ts): one cluster, one user, everything inline. */
export async function createApi(kubeconfigFile: string): Promise<Api> {
  const { clusters, users } = parse(await readFile(kubeconfigFile, "utf8")) as Kubeconfig;
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const authority = decode(cluster["certificate-authority-data"]);
  const certificate = user["client-certificate-data"] ? { cert: decode(user["client-certificate-data"]) } : {};
  const key = user["client-key-data"] ? { key: decode(user["client-key-data"]) } : {};
  const agent = new Agent({ keepAlive: true, ca: authority, ...certificate, ...key });
  const headers = user.token === undefined ? {} : { authorization: `Bearer ${user.token}` };
  const connection = { server: cluster.server, agent, headers };
  return {
    server: cluster.server,
    authority,
    request: async <T>(method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
      (await send(connection, { method, path, body, ...options })) as T,
    close: () => agent.destroy(),
  };
}

interface Connection {
  readonly server: string;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
}

interface Call extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

interface Response {
  readonly status: number;
  readonly text: string;
}

async function send(connection: Connection, call: Call): Promise<unknown> {
  const { status, text } = await exchange(connection, call);
  if (status >= 200 && status < 300) return parsed(text);
  const body = parsed(text) as { reason?: string; message?: string } | string;
  const { reason = "Unknown", message = text } = typeof body === "object" ? body : {};
  throw new ApiError(`${call.method} ${call.path}`, { status, reason, message });
}

/** Objects and `/version` are JSON; `/readyz`, `/metrics` and logs are text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function exchange(connection: Connection, call: Call, retried = false): Promise<Response> {
  const { method, path, body, signal } = call;
  return new Promise<Response>((done, fail) => {
    const bodyType = call.contentType ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json");
    const type = body === undefined ? {} : { "content-type": bodyType };
    const options = {
      method,
      agent: connection.agent,
      headers: { ...connection.headers, ...type, accept: "application/json, */*" },
    };
    const out = httpsRequest(
      new URL(path, connection.server),
      { ...options, ...(signal ? { signal } : {}) },
      async (response) => {
        try {
          const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>);
          done({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        } catch (cause) {
          fail(new ApiUnreachableError(`${method} ${path}`, cause));
        }
      },
    );
    out.on("error", (cause) => {
      // The server may close an idle connection at the moment we reuse it. Everything but POST is safe to send again.
      if (out.reusedSocket && !retried && method !== "POST" && !signal?.aborted) done(exchange(connection, call, true));
      else fail(signal?.aborted ? signal.reason : new ApiUnreachableError(`${method} ${path}`, cause));
    });
    out.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

const decode = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();

/** Undefined instead of a 404. */
export async function unlessMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
