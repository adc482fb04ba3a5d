// One large answer, on a connection of its own, in HTTP/1.1. This is how lists come, which are the most that an operator ever
// reads, while everything waits for it. With 20,000 pods (180 MB) undici took twice as long in HTTP/2, on the server's side, too,
// and in HTTP/1.1 15 MiB more than this, because it makes an object of every piece (docs/decisions/0005).
//
//     response-reader.ts   HTTP/1.1       two-buffers.ts   what has come and is unread
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Cancel, Clock } from "../../../concurrency/environment.ts";
import { settled } from "../../../concurrency/system-environment.ts";
import type { TlsMaterial } from "../../credentials/tls.ts";
import { HeldStream } from "../chunk-stream.ts";
import { failureOf } from "../failure.ts";
import { type TransportRequest, type TransportResponse, textIn } from "../transport.ts";
import { ResponseError, ResponseReader } from "./response-reader.ts";
import { TwoBuffers } from "./two-buffers.ts";

export interface BulkExchange {
  /** "https://127.0.0.1:6443" */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  /** A character for each byte. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly request: Pick<TransportRequest, "method" | "path" | "signal">;
  readonly tls: TlsMaterial;
  readonly clock: Pick<Clock, "after">;
  readonly connectTimeoutMs: number;
  /** Aborts when the client is closed. */
  readonly closing: AbortSignal;
  /** Called when the request is on its way. */
  readonly onSent: () => void;
}

/** The answer; rejects as Transport.request does. */
export function exchangeBulk(exchange: BulkExchange): Promise<TransportResponse> {
  return new Promise((resolve, reject) => new Bulk(exchange, resolve, reject));
}

/** Whether a list failed because of the way it was asked for: the server speaks HTTP/2 only, or an HTTP/1.1 that we do not read. */
export function isSpokenOtherwise({ cause }: { readonly cause?: unknown }): boolean {
  return cause instanceof ResponseError || (cause as NodeJS.ErrnoException | undefined)?.code === noCommonProtocol;
}

/** TLS: "of the protocols you offer I speak none". */
const noCommonProtocol = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";

/** A record of TLS is at most 16 KiB, and comes in one piece. */
const readBytes = 16 * 1024;

class Bulk {
  readonly #exchange: BulkExchange;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #socket: Socket;
  readonly #held = new TwoBuffers();
  readonly #reader: ResponseReader;
  readonly #cancelTimeout: Cancel;
  #sent = false;
  #settled = false;
  #telling = false;
  #answer: Omit<TransportResponse, "body"> = { status: 0, headers: {} };
  #stream: HeldStream | undefined;

  constructor(exchange: BulkExchange, resolve: (response: TransportResponse) => void, reject: (error: unknown) => void) {
    this.#exchange = exchange;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#reader = new ResponseReader({
      head: (status, headers) => this.#begin(status, headers),
      body: (bytes, from, to) => this.#held.add(bytes, from, to),
    });
    const head = headOf(exchange);
    this.#socket = open(exchange, (bytes, length) => this.#take(bytes, length));
    const { clock, connectTimeoutMs, tls } = exchange;
    const late = () => this.#socket.destroy(new Error(`no connection within ${connectTimeoutMs} ms`));
    this.#cancelTimeout = clock.after(connectTimeoutMs, late);
    this.#socket.once(tls.secureContext === undefined ? "connect" : "secureConnect", () => {
      this.#cancelTimeout();
      this.#sent = true;
      this.#socket.write(head, "latin1");
      exchange.onSent();
    });
    this.#socket.on("error", (error) => this.#fail(error)).on("close", () => this.#closed());
    exchange.request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    exchange.closing.addEventListener("abort", this.#onClosing, { once: true });
    if (exchange.request.signal?.aborted)
      this.#onAbort(); // while the credentials were looked up
    else if (exchange.closing.aborted) this.#onClosing();
  }

  #take(bytes: Buffer, length: number): void {
    if (this.#settled) return;
    try {
      this.#reader.push(bytes, length);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#stream?.stem();
    if (this.#reader.over) this.#end();
    else if (!this.#telling) void this.#tell();
  }

  /** Once for all that comes in this turn of the event loop: to wake the reader for every record of TLS is a tenth of the work. */
  async #tell(): Promise<void> {
    this.#telling = true;
    await settled();
    this.#telling = false;
    if (!this.#settled) this.#stream?.arrived();
  }

  #begin(status: number, headers: TransportResponse["headers"]): void {
    this.#answer = { status, headers };
    if (status >= 300) return;
    const tap = {
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      cancel: () => this.#settle(),
    };
    this.#stream = new HeldStream(tap, this.#held);
    this.#resolve({ ...this.#answer, body: this.#stream });
  }

  #end(): void {
    this.#settle();
    if (this.#stream === undefined) this.#resolve({ ...this.#answer, body: textIn(Buffer.from(this.#held.take() ?? [])) });
    this.#stream?.arrived();
    this.#stream?.end();
  }

  /** The socket is gone. Nothing, if the answer was there; otherwise the answer may end just here. */
  #closed(): void {
    if (this.#settled) return;
    try {
      this.#reader.close();
      this.#end();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(cause: Error): void {
    if (this.#settled) return;
    this.#settle();
    const error = failureOf(this.#exchange.request, { sent: this.#sent, cause });
    this.#reject(error);
    this.#stream?.arrived(); // what has come is given first
    this.#stream?.fail(error);
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#exchange.request.signal?.reason;
    this.#settle();
    this.#reject(reason);
    this.#stream?.abort(reason);
  };

  readonly #onClosing = (): void => this.#fail(new Error("the client is closed"));

  /** Nothing more is wanted of the connection. */
  #settle(): void {
    this.#settled = true;
    this.#cancelTimeout();
    this.#exchange.request.signal?.removeEventListener("abort", this.#onAbort);
    this.#exchange.closing.removeEventListener("abort", this.#onClosing);
    this.#socket.destroy();
  }
}

function open({ origin, tls }: BulkExchange, take: (bytes: Buffer, length: number) => void): Socket {
  const { hostname, port, protocol } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const callback = (length: number, bytes: Uint8Array) => {
    take(bytes as Buffer, length);
    return true; // to wait is asked for by pause(), and what has been decrypted by then still comes
  };
  const onread = { buffer: Buffer.allocUnsafeSlow(readBytes), callback };
  const to = { host, port: Number(port || (protocol === "https:" ? 443 : 80)), onread };
  if (tls.secureContext === undefined) return connectPlain(to);
  const { secureContext, serverName = isIP(host) ? undefined : host, insecure } = tls;
  return connectTls({
    ...to,
    secureContext,
    rejectUnauthorized: !insecure,
    ALPNProtocols: ["http/1.1"],
    ...(serverName && { servername: serverName }),
  });
}

/** The request, in bytes. There is no body: lists are read. */
function headOf({ origin, path, headers, request: { method } }: BulkExchange): string {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${new URL(origin).host}`, "connection: close"];
  for (const [name, values] of Object.entries(headers)) for (const value of [values].flat()) lines.push(`${name}: ${value}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
