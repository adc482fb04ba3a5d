// Controllers in the style of metacontroller (https://metacontroller.github.io): a hook receives an object and its children, and
// returns the children that it wants. The requests and responses are the same, so a hook written for metacontroller works unchanged.
//
//     const catsets = compositeController({
//       name: "catset-controller",
//       parent: { kind: CatSet, revisionHistory: { fieldPaths: ["spec.template"] } },
//       children: [{ kind: Pod, updateStrategy: { method: "RollingRecreate", statusChecks } }, { kind: PersistentVolumeClaim }],
//       hooks: { sync: async ({ parent, children }) => ({ status: { … }, children: [ … ] }) },
//     });
//
// This file has the hooks themselves: a function in this process, or a URL.
//
//     composite.ts, decorator.ts   the two kinds of controllers
//     claim.ts                     which children belong to a parent: adoption and release
//     customize.ts                 the related objects
//     objects.ts                   the maps of objects in requests, and checks of what a hook returns
//     update.ts                    creates, updates, recreates and deletes children
//     rollout.ts                   which child is updated next (pure), and where that is stored
//     parent.ts                    finalizers, labels, annotations and status of the parent
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { z } from "zod";
import { timeoutSignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import { ControllerError } from "../controller/errors.ts";
import { type Milliseconds, seconds } from "../objects/time.ts";

/** A JSON object without a static type. */
export type Json = { [field: string]: unknown };

/** An object in a request or a response. Hooks may be written in JavaScript, so its fields are not typed. */
// biome-ignore lint/suspicious/noExplicitAny: hooks read deep into objects whose types they know and we do not
export type HookObject = { [field: string]: any };

/** `{ "Pod.v1": { "web-0": { … } } }` */
export type ObjectMap = { [kindAndVersion: string]: { [name: string]: HookObject } };

export interface CompositeRequest {
  /** What a CompositeController object of metacontroller would contain. */
  controller: HookObject;
  parent: HookObject;
  /** The children that the parent controls. Every kind has an entry, even an empty one. */
  children: ObjectMap;
  /** The objects that `customize` selects. */
  related: ObjectMap;
  /** Whether this is a call of `finalize`. */
  finalizing: boolean;
}

export interface CompositeResponse {
  /** Replaces the status of the parent. */
  status?: HookObject | null | undefined;
  /** The desired children. Other children are deleted. */
  children?: HookObject[] | null | undefined;
  /** Seconds until the next call, even if nothing changes. */
  resyncAfterSeconds?: number | null | undefined;
  /** For `finalize`: the parent can go. */
  finalized?: boolean | null | undefined;
}

export interface DecoratorRequest {
  controller: HookObject;
  object: HookObject;
  /** The objects that this decorator has attached. */
  attachments: ObjectMap;
  related: ObjectMap;
  finalizing: boolean;
}

export interface DecoratorResponse {
  /** Labels to set on the object; null removes one. */
  labels?: { [name: string]: string | null } | null | undefined;
  /** Annotations to set on the object; null removes one. */
  annotations?: { [name: string]: string | null } | null | undefined;
  /** Replaces the status of the object. @default unchanged */
  status?: HookObject | null | undefined;
  /** The desired attachments. Other objects that this decorator attached are deleted. */
  attachments?: HookObject[] | null | undefined;
  resyncAfterSeconds?: number | null | undefined;
  finalized?: boolean | null | undefined;
}

export interface CustomizeRequest {
  controller: HookObject;
  parent: HookObject;
}

/** Selects related objects: by names, or by selectors. */
export interface RelatedRule {
  apiVersion: string;
  /** The plural: "configmaps". */
  resource: string;
  labelSelector?: HookObject | null | undefined;
  namespaceSelector?: HookObject | null | undefined;
  namespace?: string | null | undefined;
  names?: string[] | null | undefined;
}

export interface CustomizeResponse {
  relatedResources?: RelatedRule[] | null | undefined;
}

/** A hook at a URL. The request is a POST with a JSON body. */
export interface UrlHook {
  readonly url: string;
  /** Milliseconds until the whole response must be there. @default 10 s */
  readonly timeoutMs?: Milliseconds;
  /** The largest response that is read. @default 16 MiB */
  readonly maxBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Hook<Request, Response> = ((request: Request) => Response | Promise<Response>) | UrlHook;

/** A hook did not answer, or not as it must. The call is retried with a back-off. */
export class HookError extends ControllerError {
  readonly code = "HOOK";
}

export interface HookCall {
  /** "sync", for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Calls a hook. A function gets a copy of the request, as it would over HTTP: hooks may change what they receive, and the objects of
 * the caches are shared.
 */
export async function callHook<Request, Response>(
  hook: Hook<Request, Response>,
  request: Request,
  schema: z.ZodType<Response>,
  call: HookCall,
): Promise<Response> {
  const answer = typeof hook === "function" ? await hook(copyOf(request)) : await post(hook, request, call);
  const checked = schema.safeParse(copyOf(answer ?? {}));
  if (checked.success) return checked.data;
  throw new HookError(`hook ${call.name}: expected a response as documented, found: ${z.prettifyError(checked.error)}`);
}

function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

async function post(hook: UrlHook, body: unknown, { name, clock, signal }: HookCall): Promise<unknown> {
  const { url, timeoutMs = seconds(10), maxBytes = 16 * 1_024 * 1_024, headers = {} } = hook;
  using limit = timeoutSignal({ clock, timeoutMs, signal, what: `hook ${name} at ${url}` });
  const response = await send(url, { headers, body: JSON.stringify(body), signal: limit.signal });
  const text = await bounded(response, maxBytes, name).catch((error: unknown) => {
    throw limit.signal.aborted ? limit.signal.reason : error; // Node.js reports a reset connection
  });
  // Nobody follows redirects here, so one ends as an error too: a hook must not send us to another server.
  if (response.statusCode !== 200)
    throw new HookError(`hook ${name} at ${url}: expected status 200, found ${response.statusCode}: ${text.slice(0, 300)}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HookError(`hook ${name} at ${url}: expected JSON, found ${JSON.stringify(text.slice(0, 100))}`, { cause });
  }
}

interface HookPost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function send(url: string, { headers, body, signal }: HookPost): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
  const json = { "content-type": "application/json", accept: "application/json" };
  const sent = request(url, { method: "POST", headers: { ...headers, ...json }, signal }, resolve);
  sent.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  sent.end(body);
  return promise;
}

async function bounded(body: AsyncIterable<Uint8Array>, maxBytes: number, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new HookError(`hook ${name}: expected at most ${maxBytes} bytes, found more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A function in the convention of metacontroller's Node.js examples: takes `{ request: { body } }`, returns `{ status, body }`. */
export type NodeFunction = (context: { request: { body: HookObject } }) => Promise<{ status: number; body?: unknown }>;

/**
 * A hook from a function in the convention of metacontroller's Node.js server:
 *
 *     hooks: { sync: nodeHook(require("./sync.js")) }
 */
export function nodeHook(run: NodeFunction): (request: object) => Promise<object> {
  return async (request) => {
    const { status, body = {} } = await run({ request: { body: request } });
    if (status !== 200) throw new HookError(`hook: expected status 200, found ${status}: ${String(body).slice(0, 300)}`);
    return typeof body === "string" ? (JSON.parse(body) as object) : (body as object);
  };
}

const json = z.record(z.string(), z.unknown());
const common = {
  status: json.nullish(),
  resyncAfterSeconds: z.number().nullish(),
  finalized: z.boolean().nullish(),
};
const pairs = z.record(z.string(), z.string().nullable()).nullish();
const selector = json.nullish();

export const compositeResponse = z.object({ ...common, children: z.array(json).nullish() });
export const decoratorResponse = z.object({ ...common, labels: pairs, annotations: pairs, attachments: z.array(json).nullish() });
export const customizeResponse = z.object({
  relatedResources: z
    .array(
      z.object({
        apiVersion: z.string(),
        resource: z.string(),
        labelSelector: selector,
        namespaceSelector: selector,
        namespace: z.string().nullish(),
        names: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
});
