// The transport of production: credentials on top, undici below; but lists come another way (bulk/).
import type { Environment } from "../../concurrency/environment.ts";
import type { ConnectionConfig } from "../config/config.ts";
import { proxyUrlOf } from "../config/proxy.ts";
import { differ, type Identity, makeIdentities } from "../credentials/identity.ts";
import { TransportError } from "../errors.ts";
import { exchangeBulk, isSpokenOtherwise } from "./bulk/bulk-exchange.ts";
import { Connections } from "./connections.ts";
import { exchange } from "./dispatch.ts";
import { inUtf8 } from "./header-bytes.ts";
import { expectSendable } from "./sendable.ts";
import { encodeQuery, type Transport, type TransportRequest, type TransportResponse, UnansweredError } from "./transport.ts";
import { loadAgentInParts } from "./undici.ts";

export interface UndiciOptions {
  readonly environment: Pick<Environment, "clock">;
  /** Use HTTP/2 where the server offers it. Off: HTTP/1.1, one connection per request under way. @default true */
  readonly http2?: boolean | undefined;
  /** Milliseconds for TCP and TLS together. @default 10 s */
  readonly connectTimeoutMs?: number | undefined;
  /** Who we say we are; the server's audit log shows it. @default "memhog-runtime" */
  readonly userAgent?: string | undefined;
  /** What credential plugins inherit. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export function undiciTransport(config: ConnectionConfig, options: UndiciOptions): Transport {
  const { environment, http2 = true, connectTimeoutMs = 10_000, userAgent = "memhog-runtime", env = process.env } = options;
  const { origin, pathname } = new URL(config.server);
  const prefix = pathname.replace(/\/+$/, "");
  const identities = makeIdentities(config, { clock: environment.clock, env });
  const underWay = new Set<Promise<TransportResponse>>();
  const proxyUrl = config.proxyUrl && proxyUrlOf(config.proxyUrl.reveal(), `the proxyUrl of ${config.origin}`);
  const connections = new Connections({ http2, connectTimeoutMs, proxyUrl, clock: environment.clock });
  const closing = new AbortController();
  /** Lists come their own way; behind a proxy they cannot, and behind some load balancers that has to be found out. */
  let bulk = config.proxyUrl === undefined;

  const send = async (request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    if (!request.chunks || !bulk) return sendByUndici(request, identity);
    try {
      return await sendBulk(request, identity);
    } catch (error) {
      if (!(error instanceof TransportError) || !isSpokenOtherwise(error)) throw error;
    }
    const answer = await sendByUndici(request, identity);
    bulk = false; // it was not nonsense for everybody
    return answer;
  };

  const outlined = (request: TransportRequest, identity: Identity) => {
    const query = encodeQuery(request.query);
    const path = `${prefix}${request.path}${query && `?${query}`}`;
    const headers = inUtf8({ accept: "application/json", "user-agent": userAgent, ...request.headers, ...identity.headers });
    expectSendable(path, headers);
    return { origin, path, headers, request };
  };

  const sendBulk = (request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    const { clock } = environment;
    const { tls } = identity;
    // The server takes a moment to collect a list: time to load what the watch that follows it needs.
    const onSent = () => void loadAgentInParts();
    const { signal } = closing;
    return exchangeBulk({ ...outlined(request, identity), tls, clock, connectTimeoutMs, closing: signal, onSent });
  };

  const sendByUndici = async (request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    const asItComes = request.stream || request.chunks;
    const role = asItComes ? "watches" : "requests";
    const dispatcher = connections.agent(role, identity.tls);
    // Also after the answer has begun: a watch that falls silent is a deadline that passes later.
    onDeadline(request.signal, () => connections.suspect(role, dispatcher));
    const answer = exchange({ dispatcher, ...outlined(request, identity) });
    if (asItComes) return answer;
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  };

  return {
    request: async (request) => {
      request.signal?.throwIfAborted();
      const identity = await identities.current();
      const answer = await send(request, identity).catch((error: unknown) => {
        if (error instanceof TransportError) identities.unanswered();
        throw error;
      });
      if (answer.status !== 401) return answer;
      // Refused at the door, so nothing was done: safe to repeat, and worth it if there are newer credentials.
      identities.refused(identity);
      const fresh = await identities.current();
      return differ(identity, fresh) ? send(request, fresh) : answer;
    },
    close: async () => {
      // Requests finish; each has its deadline. Watches would not, and are cut with the connections.
      await Promise.allSettled(underWay);
      closing.abort();
      await connections.close();
    },
  };
}

function onDeadline(signal: AbortSignal | undefined, suspect: () => void): void {
  const onAbort = () => {
    if (signal?.reason instanceof UnansweredError) suspect();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
}
