// One HTTP request to the webhook server: bounded on its way in, answered, and counted. The status tells the API server
// what kind of failure it met; anything but 200 means "the webhook failed", and then its failurePolicy applies.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { abortable, anySignal, DeadlineExceededError, timeoutSignal } from "../concurrency/abort.ts";
import { BadReviewError, WebhookError } from "./errors.ts";
import { type Reviewer, reviewersOf } from "./reviews.ts";
import type { WebhookServerOptions } from "./server.ts";

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

interface Answer {
  readonly status: number;
  readonly body: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is answered with an error status; everything else that is thrown is a 500. */
class Refused extends WebhookError {
  readonly code = "WEBHOOK_REFUSED";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The API server waits no longer, for admission as for conversion; who claims to is somebody else. */
const longestSeconds = 30;

/** Handles requests; `idle` resolves when none is under way. */
export function requestHandler(options: WebhookServerOptions) {
  const { maxConcurrent = 100, reporter, environment } = options;
  const reviewers = reviewersOf(options.webhooks, (path, error) => reporter?.failed?.(path, error));
  const underWay = new Set<Promise<void>>();
  const impatient = new AbortController();

  async function answer(request: Request, url: URL | null): Promise<Answer> {
    if (url === null) throw new Refused(400, "expected a path");
    const reviewer = reviewers.get(url.pathname);
    if (reviewer === undefined) throw new Refused(404, `expected one of ${[...reviewers.keys()].join(", ")}`);
    if (request.method !== "POST") throw new Refused(405, "expected POST", { allow: "POST" });
    // The API server's client waits for as long as Retry-After says and tries again while its own timeout lasts.
    if (underWay.size >= maxConcurrent) throw new Refused(429, "too many reviews at once", { "retry-after": "1" });
    return { status: 200, body: await review(request, url, reviewer, { ...options, impatient: impatient.signal }) };
  }

  async function handleCounted(request: Request, response: Response): Promise<void> {
    const url = URL.parse(request.url ?? "/", "https://webhook"); // null for what is none, like //
    // A label per path that a stranger tries would never end.
    const path = url !== null && reviewers.has(url.pathname) ? url.pathname : "unknown";
    const begunAt = environment.clock.monotonic();
    // Heard from the beginning: whoever hangs up before there is an answer, as the API server does after its timeout, does it once.
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    response.once("close", resolve);
    reporter?.started?.(path);
    const outcome = await answer(request, url).catch((error: unknown) => failure(error, () => reporter?.failed?.(path, error)));
    send(response, outcome);
    await gone; // the answer has left, or nobody is left to take it
    reporter?.ended?.(path, outcome.status, (environment.clock.monotonic() - begunAt) / 1000);
  }

  return {
    handle(request: Request, response: Response): void {
      const handled: Promise<void> = handleCounted(request, response).finally(() => underWay.delete(handled));
      underWay.add(handled);
    },
    /** Waits no longer for bodies that have not come. */
    hurry(): void {
      impatient.abort(new Refused(503, "the webhook is stopping"));
    },
    async idle(): Promise<void> {
      await Promise.allSettled(underWay);
    },
  };
}

interface ReviewOptions extends WebhookServerOptions {
  /** Aborts when bodies are not waited for any more. */
  readonly impatient: AbortSignal;
}

/** Reads, reviews and answers within the time the API server said it would wait (`?timeout=5s`). */
async function review(request: Request, url: URL, reviewer: Reviewer, options: ReviewOptions): Promise<object> {
  const { timeoutSeconds = 10, maxBodyBytes = 7 * 1024 * 1024, environment, impatient } = options;
  const asked = Number(/^(\d+)s$/.exec(url.searchParams.get("timeout") ?? "")?.[1] ?? timeoutSeconds);
  const seconds = Math.min(asked, longestSeconds);
  using limit = timeoutSignal({ clock: environment.clock, timeoutMs: seconds * 1000, what: `review at ${url.pathname}` });
  using reading = anySignal([limit.signal, impatient]);
  const body = await abortable(readBody(request, maxBodyBytes), reading.signal);
  return await abortable(reviewer(parsed(body), limit.signal), limit.signal);
}

async function readBody(request: Request, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the request: its connection still has to carry the refusal.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Refused(413, `expected at most ${maxBytes} bytes (maxBodyBytes)`, { connection: "close" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new BadReviewError("expected JSON, found something else", { cause });
  }
}

function failure(error: unknown, report: () => void): Answer {
  if (error instanceof Refused) {
    // Strangers try paths and the API server tries again; but a review that is too large never passes, and somebody has to know.
    if (error.status === 413) report();
    return { status: error.status, body: error.message, headers: error.headers };
  }
  if (error instanceof BadReviewError) return { status: 400, body: error.message };
  report();
  if (error instanceof DeadlineExceededError) return { status: 504, body: "the webhook took too long" };
  // Whoever made the write sees this text; what went wrong inside may name things that are none of their business.
  return { status: 500, body: "the webhook failed; its log says why" };
}

function send(response: Response, { status, body, headers = {} }: Answer): void {
  const text = typeof body === "string" ? `${body}\n` : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  // HTTP/2 knows no Connection header and refuses to send one; there a single stream ends instead.
  const { connection, ...others } = headers;
  const hangUp = connection !== undefined && "stream" in response === false;
  response.on("error", () => {}); // the caller hung up; nobody is left to tell
  (response as ServerResponse).writeHead(status, {
    ...others,
    ...(hangUp ? { connection } : {}),
    "content-type": type,
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}
