// The AdmissionReview for a webhook, and validation of its response.

import { type RequestOptions, request } from "node:https";
import type { Clock } from "@memhog/runtime/concurrency";
import { isObject, type JsonObject, objectAt } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { LocalWebhook, ServerCore } from "../server/core.ts";
import { StatusError } from "../server/status-error.ts";
import type { Storage } from "../storage/storage.ts";
import type { Subject } from "./webhooks.ts";

/** The response is not a valid AdmissionReview. */
export class InvalidReviewError extends Error {
  readonly code = "WEBHOOK_REVIEW_INVALID";
  override readonly name = "InvalidReviewError";
}

export function reviewOf({ object, request }: Subject, as: KindEntry, uid: string): JsonObject {
  const { kind, ref, operation, subresource, oldObject, dryRun, userInfo, options } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      kind: { group: as.group, version: as.version, kind: as.kind },
      resource: { group: as.group, version: as.version, resource: as.plural },
      ...(subresource !== undefined && { subResource: subresource }),
      requestKind: { group: kind.group, version: kind.version, kind: kind.kind },
      requestResource: { group: kind.group, version: kind.version, resource: kind.plural },
      ...(subresource !== undefined && { requestSubResource: subresource }),
      ...(ref.name !== "" && { name: ref.name }),
      ...(ref.namespace !== undefined && { namespace: ref.namespace }),
      operation,
      userInfo,
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun,
      options,
    },
  };
}

export interface WebhookDecision {
  readonly allowed: boolean;
  /** The operations of a JSON patch. */
  readonly patch: unknown;
  readonly status: JsonObject;
  readonly warnings: readonly string[];
}

/** @throws InvalidReviewError */
export function decisionIn(review: JsonObject, uid: string, mayPatch: boolean): WebhookDecision {
  const { response, kind, apiVersion } = review;
  if (!isObject(response)) throw new InvalidReviewError("webhook response was absent");
  if (response.uid !== uid)
    throw new InvalidReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  if (kind !== "AdmissionReview" || apiVersion !== "admission.k8s.io/v1")
    throw new InvalidReviewError(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${apiVersion ?? "/"}, Kind=${kind ?? ""}`,
    );
  checkPatch(response, mayPatch);
  const { warnings } = response;
  return {
    allowed: response.allowed === true,
    patch: patchIn(response.patch),
    status: objectAt(response, "status"),
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

function checkPatch({ patch, patchType }: JsonObject, mayPatch: boolean): void {
  const invalidReview = (what: string) => new InvalidReviewError(what);
  if (!mayPatch && patch) throw invalidReview("validating webhook may not return response.patch");
  if (!mayPatch && patchType !== undefined) throw invalidReview("validating webhook may not return response.patchType");
  if (mayPatch && patch && patchType === undefined)
    throw invalidReview("webhook returned response.patch but not response.patchType");
  if (mayPatch && !patch && patchType !== undefined)
    throw invalidReview("webhook returned response.patchType but not response.patch");
}

function patchIn(patch: unknown): unknown {
  if (typeof patch !== "string" || patch === "") return [];
  try {
    return JSON.parse(Buffer.from(patch, "base64").toString("utf8"));
  } catch {
    throw new InvalidReviewError("received undecodable patch in webhook response");
  }
}

/** Returns the error of a denied request, with the message of the webhook. */
export function denial(name: string, { message, reason, code, details }: JsonObject): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = message || reason;
  return new StatusError({
    code: typeof code === "number" && code >= 400 ? code : 400,
    reason: String(reason ?? ""),
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(isObject(details) && { details }),
  });
}

// Calls a webhook over HTTPS as the API server does: posts a review and reads the review in the response. The certificate must be
// signed by the `caBundle` of the configuration. The timeout uses the environment's clock; the network takes real time.

/** The call failed. The message has the format of the API server's HTTP client. */
export class WebhookCallError extends Error {
  readonly code = "WEBHOOK_CALL_FAILED";
  override readonly name = "WebhookCallError";
}

interface ReviewCall {
  /** The `clientConfig` of a webhook or a conversion. */
  readonly clientConfig: JsonObject;
  readonly review: JsonObject;
  /** Sent to the webhook and enforced. */
  readonly timeoutSeconds: number;
}

interface PostContext {
  readonly clock: Pick<Clock, "after">;
  readonly storage: Pick<Storage, "get">;
  readonly webhooks: ServerCore["webhooks"];
}

/** Posts a review and returns the review in the response. @throws WebhookCallError */
export async function postReview(call: ReviewCall, context: PostContext): Promise<JsonObject> {
  const { clientConfig, review, timeoutSeconds } = call;
  const address = addressOf(clientConfig);
  const target = `${address}${address.includes("?") ? "&" : "?"}timeout=${timeoutSeconds}s`;
  const shown = `Post ${JSON.stringify(target)}`;
  const local = context.webhooks.get(address);
  if (local !== undefined) return callLocally(local, review, shown);
  checkServiceExists(clientConfig, context, shown);
  const options: RequestOptions = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, */*", "user-agent": "kube-apiserver-admission" },
    ...(typeof clientConfig.caBundle === "string" && { ca: Buffer.from(clientConfig.caBundle, "base64") }),
  };
  const answer = await exchange(new URL(target), options, JSON.stringify(review), { ...call, ...context, shown });
  return parsed(answer);
}

/** Copies both reviews, as a network would. */
async function callLocally(webhook: LocalWebhook, review: JsonObject, shown: string): Promise<JsonObject> {
  try {
    const answer = await webhook(structuredClone(review), new AbortController().signal);
    return JSON.parse(JSON.stringify(answer)) as JsonObject;
  } catch (error) {
    throw new WebhookCallError(`${shown}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the address of a webhook. The DNS name of a Service does not resolve here, because simulated pods run no processes. */
function addressOf(clientConfig: JsonObject): string {
  if (typeof clientConfig.url === "string") return clientConfig.url;
  const { name, namespace, path = "/", port = 443 } = objectAt(clientConfig, "service");
  return `https://${name}.${namespace}.svc:${port}${path}`;
}

function checkServiceExists(clientConfig: JsonObject, { storage }: PostContext, shown: string): void {
  if (!isObject(clientConfig.service)) return;
  const { name, namespace } = clientConfig.service;
  const service = storage.get({ group: "", plural: "services" }, { namespace: String(namespace), name: String(name) });
  const why =
    service === undefined
      ? `service ${JSON.stringify(name)} not found`
      : `no endpoints available for service ${JSON.stringify(name)}`;
  throw new WebhookCallError(`${shown}: ${why}`);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Exchange extends ReviewCall, PostContext {
  readonly shown: string;
}

function exchange(url: URL, options: RequestOptions, body: string, { clock, timeoutSeconds, shown }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      cancel();
      reject(new WebhookCallError(`${shown}: ${why}`));
      call.destroy();
    };
    const call = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", () => fail("unexpected EOF"));
      response.on("end", () => {
        cancel();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    const cancel = clock.after(timeoutSeconds * 1000, () => fail("context deadline exceeded"));
    call.on("error", (error) => fail(asGoError(error, url)));
    call.end(body);
  });
}

function parsed({ status, text }: Answer): JsonObject {
  if (status < 200 || status > 299) {
    const said = text.trim() === "" ? "unknown" : text.trim();
    const refused = `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`;
    throw new WebhookCallError(status === 404 ? "the server could not find the requested resource" : refused);
  }
  try {
    const review: unknown = JSON.parse(text);
    if (isObject(review)) return review;
  } catch {
    // reported below, like any other response that is not an object
  }
  throw new WebhookCallError("couldn't get version/kind; json parse error");
}

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  ECONNRESET: "EOF",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  SELF_SIGNED_CERT_IN_CHAIN: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  CERT_HAS_EXPIRED: "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
};

function asGoError(error: NodeJS.ErrnoException, { hostname, port }: URL): string {
  const words = refusals[error.code ?? ""];
  if (error.code === "ECONNREFUSED") return `dial tcp ${hostname}:${port || 443}: ${words}`;
  return words ?? error.message;
}
