// Asks a webhook over HTTPS, as the API server does: POST a review, read the review that comes back. The connection is trusted
// if its certificate is signed by the `caBundle` of the configuration. The time it may take is that of the environment's
// clock; what is on the wire takes real time, which a simulated hour does not shorten.
import { type RequestOptions, request } from "node:https";
import type { Clock } from "@memhog/runtime";
import { isObject, type JsonObject, objectAt } from "../../json.ts";
import type { Storage } from "../../storage/storage.ts";

/** The webhook could not be asked, in the words of the API server's HTTP client. */
export class WebhookCallError extends Error {
  readonly code = "WEBHOOK_CALL_FAILED";
  override readonly name = "WebhookCallError";
}

export interface ReviewCall {
  /** `clientConfig` of a webhook or of a conversion. */
  readonly clientConfig: JsonObject;
  readonly review: JsonObject;
  /** Told to the webhook, and kept. */
  readonly timeoutSeconds: number;
}

export interface PostContext {
  readonly clock: Pick<Clock, "after">;
  readonly storage: Pick<Storage, "get">;
}

/** The answered review. @throws WebhookCallError */
export async function postReview(call: ReviewCall, context: PostContext): Promise<JsonObject> {
  const { clientConfig, review, timeoutSeconds } = call;
  const address = addressOf(clientConfig);
  const target = `${address}${address.includes("?") ? "&" : "?"}timeout=${timeoutSeconds}s`;
  const shown = `Post ${JSON.stringify(target)}`;
  mustHaveService(clientConfig, context, shown);
  const options: RequestOptions = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, */*", "user-agent": "kube-apiserver-admission" },
    ...(typeof clientConfig.caBundle === "string" && { ca: Buffer.from(clientConfig.caBundle, "base64") }),
  };
  const answer = await exchange(new URL(target), options, JSON.stringify(review), { ...call, ...context, shown });
  return parsed(answer);
}

/** A webhook behind a Service has the name of the Service; its pods, if there are any here, are hollow. */
function addressOf(clientConfig: JsonObject): string {
  if (typeof clientConfig.url === "string") return clientConfig.url;
  const { name, namespace, path = "/", port = 443 } = objectAt(clientConfig, "service");
  return `https://${name}.${namespace}.svc:${port}${path}`;
}

function mustHaveService(clientConfig: JsonObject, { storage }: PostContext, shown: string): void {
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
    call.on("error", (error) => fail(inGoWords(error, url)));
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
    // told below, like everything that is no object
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

function inGoWords(error: NodeJS.ErrnoException, { hostname, port }: URL): string {
  const words = refusals[error.code ?? ""];
  if (error.code === "ECONNREFUSED") return `dial tcp ${hostname}:${port || 443}: ${words}`;
  return words ?? error.message;
}
