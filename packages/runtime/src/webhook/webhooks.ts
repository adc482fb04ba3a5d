// Webhooks as an operator declares them: a kind and a function. The API server calls the webhook before it stores an object, and
// the function's result is the response.
//
//     validate(Gordon, (gordon, old) =>
//       old !== undefined && gordon.spec.size < old.spec.size ? denied("a Gordon does not shrink") : allowed())
//
//     mutate(Pod, (pod) => ({ ...pod, spec: { ...pod.spec, priorityClassName: "low" } }))
//
// The path (server.ts) and the registration (configuration.ts) derive from the same declaration, so they always agree.
// If a function throws or times out, the webhook has failed and its failurePolicy applies.
import { isDeepStrictEqual } from "node:util";
import type { LabelSelector } from "../objects/kinds/kind.ts";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import {
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  jsonPatch,
  responseOf,
  type Verdict,
} from "./admission.ts";
import type { ConversionWebhook } from "./conversion.ts";

export interface AdmissionWebhookOptions {
  /** Distinguishes webhooks of the same kind: lower-case letters, digits and dashes. @default none */
  readonly name?: string;
  /** Operations that call the webhook. @default CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[];
  /** Writes to this subresource instead of the object itself, like "scale" or "eviction". @default none */
  readonly subresource?: string;
  /**
   * What happens to a write when the webhook fails. @default "Fail" for custom resources; "Ignore" for built-in kinds, since an
   * operator that is down must not prevent the creation of pods
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Seconds the API server waits for a response, 1 to 30; each write of the kind may take that much longer. @default 5 */
  readonly timeoutSeconds?: number;
  /** Excluded namespaces. @default kube-system and the operator's namespace for built-in kinds; none for custom resources */
  readonly excludeNamespaces?: readonly string[];
  /** Only objects in namespaces with these labels. */
  readonly namespaceSelector?: LabelSelector;
  /** Only objects with these labels. The client that writes an object sets its labels: a filter, not a security boundary. */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must all be true; the API server evaluates them without calling the webhook. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** The admission request as handlers receive it. */
export type PendingWrite<T extends KubernetesObject> = AdmissionRequest<T> & {
  /** Aborts when the API server stops waiting. Pass it to the calls that you make. */
  readonly signal: AbortSignal;
};

/**
 * Decides whether to allow a write. `object` is the object to be stored; `old` is the stored object, if any. On DELETE both are the
 * object to be deleted, and `request.operation` is "DELETE".
 */
export type Validator<T extends KubernetesObject> = (
  object: T,
  old: T | undefined,
  request: PendingWrite<T>,
) => Verdict | Promise<Verdict>;

/** Returns the object to store; the same object or undefined changes nothing; `denied(…)` rejects the write. */
export type Mutator<T extends KubernetesObject> = (
  object: T,
  request: PendingWrite<T>,
) => T | Verdict | undefined | Promise<T | Verdict | undefined>;

/** A declared admission webhook. */
export interface AdmissionWebhook {
  readonly type: "validate" | "mutate";
  readonly kind: Kind;
  readonly options: AdmissionWebhookOptions;
  /** URL path on the webhook server. */
  readonly path: string;
  answer(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionResponse>;
}

export type Webhook = AdmissionWebhook | ConversionWebhook;

/**
 * Declares a webhook that allows or rejects writes of a kind.
 *
 *     validate(Gordon, ({ spec }) => (spec.replicas === 13 ? denied("replicas: expected a lucky number, found 13") : allowed()))
 *
 * The operator serves it (`webhooks`) and manages its certificate. `operatorManifests` registers it with the API server; without
 * manifests, apply `toYaml(...webhookConfigurations(webhooks, { name, url: "https://127.0.0.1:9443" }))` once.
 */
export function validate<T extends KubernetesObject>(
  kind: Kind<T>,
  validator: Validator<T>,
  options: AdmissionWebhookOptions = {},
): AdmissionWebhook {
  return {
    ...declared("validate", kind, options),
    answer: async (request, signal) => {
      const pending = { ...request, signal } as PendingWrite<T>;
      const old = pending.oldObject ?? undefined;
      const object = pending.object ?? old;
      // A DELETE of a collection calls the webhook once per object; CONNECT sends its options (PodExecOptions). A request without
      // any object leaves nothing to validate.
      if (object === undefined) return responseOf(request.uid, allowed());
      return responseOf(request.uid, await validator(object, old, pending));
    },
  };
}

/** Declares a webhook that changes objects of a kind before they are stored. It must be idempotent. */
export function mutate<T extends KubernetesObject>(
  kind: Kind<T>,
  mutator: Mutator<T>,
  options: AdmissionWebhookOptions = {},
): AdmissionWebhook {
  return {
    ...declared("mutate", kind, options),
    answer: async (request, signal) => {
      const pending = { ...request, signal } as PendingWrite<T>;
      const { object } = pending;
      if (object === undefined || object === null) return responseOf(request.uid, allowed());
      const before = structuredClone(object); // the patch is complete even if the handler modifies the object
      const wanted = (await mutator(object, pending)) ?? object;
      if (isVerdict(wanted)) return responseOf(request.uid, wanted);
      return responseOf(request.uid, allowed(), isDeepStrictEqual(before, wanted) ? [] : jsonPatch(before, wanted));
    },
  };
}

/** Every object has metadata; no decision does. */
const isVerdict = (answer: KubernetesObject | Verdict): answer is Verdict => !("metadata" in answer) && "allowed" in answer;

function declared(type: "validate" | "mutate", kind: Kind, options: AdmissionWebhookOptions) {
  const { group, version, kind: name } = kind;
  // The form that controller-runtime uses: /validate-apps-v1-deployment
  const parts = [type, group.replaceAll(".", "-"), version, name.toLowerCase(), options.subresource ?? "", options.name ?? ""];
  return { type, kind, options, path: `/${parts.filter((part, i) => i === 1 || part !== "").join("-")}` };
}
