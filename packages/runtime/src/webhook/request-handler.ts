// Handles one HTTP request to the webhook server within limits, and counts it. Any status but 200 means that the webhook failed;
// then the API server applies its failurePolicy.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { abortable, anySignal, DeadlineExceededError, timeoutSignal } from "../concurrency/abort.ts";
import { HttpStatusError, parseTarget } from "../http/requests.ts";
import type { AdmissionRequest } from "./admission.ts";
import { answerConversion, type ConversionRequest } from "./conversion.ts";
import { BadReviewError, WebhookDeclarationError } from "./errors.ts";
import { Arrivals, type WebhookServerOptions } from "./server.ts";
import type { AdmissionWebhook, Webhook } from "./webhooks.ts";

export type WebhookRequest = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

interface Answer {
  readonly status: number;
  readonly body: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API server never waits longer, for admission or conversion; larger timeouts do not come from it. */
const longestSeconds = 30;
/** A response that the client has not read within this time is aborted. */
const sendingMs = 10_000;

/**
 * Handles requests; `idle` resolves when none is in progress.
 *
 * @param reviewing called when a review's body is complete; the review is in progress until the result is disposed
 */
export function requestHandler(options: WebhookServerOptions, reviewing: (request: WebhookRequest) => Disposable) {
  const { maxConcurrent = 100, timeoutSeconds = 10, reporter, environment } = options;
  const reviewers = reviewersOf(options.webhooks, (path, error) => reporter?.failed?.(path, error));
  const arrivals = new Arrivals(options);
  const underWay = new Set<Promise<void>>();
  const impatient = new AbortController();
  let reviews = 0;

  async function answer(request: WebhookRequest, url: URL | undefined): Promise<Answer> {
    if (url === undefined) throw new HttpStatusError(400, "expected a path");
    const reviewer = reviewers.get(url.pathname);
    if (reviewer === undefined) throw new HttpStatusError(404, `expected one of ${[...reviewers.keys()].join(", ")}`);
    if (request.method !== "POST") throw new HttpStatusError(405, "expected POST", { allow: "POST" });
    return { status: 200, body: await review(request, url, reviewer) };
  }

  /** Reads, reviews and answers within the timeout that the API server sent (`?timeout=5s`). */
  async function review(request: WebhookRequest, url: URL, reviewer: Reviewer): Promise<object> {
    const asked = Number(/^(\d+)s$/.exec(url.searchParams.get("timeout") ?? "")?.[1] ?? timeoutSeconds);
    const seconds = Math.min(asked, longestSeconds);
    using limit = timeoutSignal({ clock: environment.clock, timeoutMs: seconds * 1000, what: `review at ${url.pathname}` });
    using reading = anySignal([limit.signal, impatient.signal]);
    const body = await arrivals.read(request, reading.signal);
    // Count a review only once its body is complete; otherwise clients that never send a body could occupy every slot.
    // The API server's client honors Retry-After and retries within its own timeout.
    if (reviews >= maxConcurrent) throw new HttpStatusError(429, "too many reviews at once", { "retry-after": "1" });
    using _ = reviewing(request);
    reviews += 1;
    try {
      return await abortable(reviewer(parsed(body), limit.signal), limit.signal);
    } finally {
      reviews -= 1;
    }
  }

  async function handleCounted(request: WebhookRequest, response: Response): Promise<void> {
    const url = parseTarget(request.url);
    // One label value for all unknown paths, so that arbitrary requests cannot grow the metric.
    const path = url !== undefined && reviewers.has(url.pathname) ? url.pathname : "unknown";
    const begunAt = environment.clock.monotonic();
    // Listen from the start: a client may close before there is a response, as the API server does after its timeout.
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    response.once("close", resolve);
    response.on("error", () => {}); // the client closed the connection
    reporter?.started?.(path);
    const outcome = await answer(request, url).catch((error: unknown) => failure(error, () => reporter?.failed?.(path, error)));
    send(response, outcome);
    const notTaken = environment.clock.after(sendingMs, () => cutOff(response));
    await gone; // the response was sent, or the client closed the connection
    notTaken();
    reporter?.ended?.(path, outcome.status, (environment.clock.monotonic() - begunAt) / 1000);
  }

  return {
    handle(request: WebhookRequest, response: Response): void {
      const handled: Promise<void> = handleCounted(request, response).finally(() => underWay.delete(handled));
      underWay.add(handled);
    },
    /** Stops waiting for incomplete bodies. */
    hurry(): void {
      impatient.abort(new HttpStatusError(503, "the webhook is stopping"));
    },
    async idle(): Promise<void> {
      await Promise.allSettled(underWay);
    },
    /** Number and bytes of incomplete bodies. */
    get pending() {
      return arrivals.pending;
    },
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new BadReviewError("expected JSON, found something else", { cause });
  }
}

function failure(error: unknown, report: () => void): Answer {
  if (error instanceof HttpStatusError) {
    // Errors of the caller are not logged, and after 429 the API server retries. A review that is too large never succeeds, so it is logged.
    if (error.status === 413) report();
    return { status: error.status, body: error.message, headers: error.headers };
  }
  if (error instanceof BadReviewError) return { status: 400, body: error.message };
  report();
  if (error instanceof DeadlineExceededError) return { status: 504, body: "the webhook took too long" };
  // The client that made the write sees this text; internal errors may contain details it must not see.
  return { status: 500, body: "the webhook failed; its log says why" };
}

function send(response: Response, { status, body, headers = {} }: Answer): void {
  const text = typeof body === "string" ? `${body}\n` : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  // HTTP/2 has no Connection header, and Node rejects it; there only the stream ends.
  const { connection, ...others } = headers;
  const hangUp = connection !== undefined && "stream" in response === false;
  (response as ServerResponse).writeHead(status, {
    ...others,
    ...(hangUp ? { connection } : {}),
    "content-type": type,
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function cutOff(response: Response): void {
  if ("stream" in response) response.stream.destroy();
  else response.destroy();
}

// Routing: from a path and a body to the webhook's response, independent of sockets.

/** Answers one parsed review. */
export type Reviewer = (review: unknown, signal: AbortSignal) => Promise<object>;

/** Receives the cause of a failed conversion, which its response does not contain. */
export type FailureReport = (path: string, error: unknown) => void;

/** Maps each path to its reviewer. Rejects two webhooks at the same path: one of them would never be called. */
export function reviewersOf(webhooks: readonly Webhook[], report?: FailureReport): ReadonlyMap<string, Reviewer> {
  const conversions = webhooks.filter((webhook) => webhook.type === "convert");
  const admissions = webhooks.filter((webhook) => webhook.type !== "convert");
  const reviewers = new Map<string, Reviewer>();
  for (const webhook of admissions) {
    if (reviewers.has(webhook.path)) throw new WebhookDeclarationError(twice(webhook));
    reviewers.set(webhook.path, admissionReviewer(webhook));
  }
  if (conversions.length > 0) {
    reviewers.set("/convert", async (review) => {
      const request = requestIn(review, "ConversionReview", isConversion);
      return answerWith(
        review,
        answerConversion(request, conversions, (error) => report?.("/convert", error)),
      );
    });
  }
  return reviewers;
}

function admissionReviewer(webhook: AdmissionWebhook): Reviewer {
  return async (review, signal) => {
    const request = requestIn(review, "AdmissionReview", isAdmission);
    return answerWith(review, await webhook.answer(request, signal));
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the request of a review of this kind. Clients other than the API server can send anything, so it is validated. */
function requestIn<T>(review: unknown, kind: string, isWhole: (request: unknown) => request is T): T {
  const { kind: found, request }: Fields = isFields(review) ? review : {};
  if (found === kind && isFields(request) && typeof request.uid === "string") {
    const whole: unknown = request;
    if (isWhole(whole)) return whole;
  }
  const what = found === kind ? "one without, or with parts of other types" : `kind ${JSON.stringify(found)?.slice(0, 100)}`;
  throw new BadReviewError(`expected a ${kind} with a request, found ${what}`);
}

function isConversion(request: unknown): request is ConversionRequest {
  const { desiredAPIVersion, objects } = request as Fields;
  return typeof desiredAPIVersion === "string" && Array.isArray(objects) && objects.every(isTyped);
}

function isAdmission(request: unknown): request is AdmissionRequest {
  const { operation, object, oldObject } = request as Fields;
  return typeof operation === "string" && [object, oldObject].every((each) => each == null || isFields(each));
}

function isTyped(object: unknown): boolean {
  return isFields(object) && typeof object.apiVersion === "string" && typeof object.kind === "string";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The response must have the version of the request. */
function answerWith(review: unknown, response: object): object {
  const { apiVersion, kind } = review as { readonly apiVersion: string; readonly kind: string };
  return { apiVersion, kind, response };
}

function twice({ type, kind, path }: AdmissionWebhook): string {
  return `expected one webhook at ${path}, found two: give one of the ${type}(${kind.kind}, …) a name in its options`;
}
