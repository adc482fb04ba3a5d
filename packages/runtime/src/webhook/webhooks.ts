// Webhooks as an operator declares them: a kind and a function. The API server asks us before it stores an object, and
// what the function returns is the answer.
//
//     validate(Gordon, (gordon, old) =>
//       old !== undefined && gordon.spec.size < old.spec.size ? denied("a Gordon does not shrink") : allowed())
//
//     mutate(Pod, (pod) => ({ ...pod, spec: { ...pod.spec, priorityClassName: "low" } }))
//
// From the same declaration come the route (server.ts) and the registration (configuration.ts), so they cannot drift.
// A function that throws, or takes too long, is a webhook that failed: then its failurePolicy decides, not we.
import { isDeepStrictEqual } from "node:util";
import type { LabelSelector } from "../objects/kinds/common.ts";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import {
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  responseOf,
  type Verdict,
} from "./admission.ts";
import type { ConversionWebhook } from "./conversion.ts";
import { jsonPatch } from "./json-patch.ts";

export interface AdmissionWebhookOptions {
  /** Tells two webhooks of one kind apart: lower-case letters, digits and dashes. @default none */
  readonly name?: string;
  /** Writes we want to be asked about. @default CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[];
  /** Writes to this subresource instead of the object itself, like "scale" or "eviction". @default none */
  readonly subresource?: string;
  /**
   * What happens to a write when we cannot be asked. @default "Fail" for kinds of our own; "Ignore" for built-in ones,
   * since an operator that is down must not keep a cluster from making pods
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Seconds the API server waits for our answer, 1 to 30; every write of the kind may take that much longer. @default 5 */
  readonly timeoutSeconds?: number;
  /** Namespaces that are never asked about. @default for built-in kinds kube-system and the operator's own; none for ours */
  readonly excludeNamespaces?: readonly string[];
  /** Only objects in namespaces with these labels. */
  readonly namespaceSelector?: LabelSelector;
  /** Only objects with these labels. Whoever writes an object chooses its labels: no protection, only a filter. */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must all be true for us to be asked; they cost the API server nothing. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** A write that waits, as handlers see it. */
export type PendingWrite<T extends KubernetesObject> = AdmissionRequest<T> & {
  /** Aborts when the API server has stopped waiting. Pass it to whatever you call. */
  readonly signal: AbortSignal;
};

/**
 * Says whether a write may go on. `object` is what would be stored; `old` is what is stored now, if anything. On DELETE
 * both are the object about to go, and `request.operation` says so.
 */
export type Validator<T extends KubernetesObject> = (
  object: T,
  old: T | undefined,
  request: PendingWrite<T>,
) => Verdict | Promise<Verdict>;

/** Returns the object as it should be stored; the same one, or undefined, changes nothing; `denied(…)` refuses. */
export type Mutator<T extends KubernetesObject> = (
  object: T,
  request: PendingWrite<T>,
) => T | Verdict | undefined | Promise<T | Verdict | undefined>;

/** A declared webhook about to be asked before writes. */
export interface AdmissionWebhook {
  readonly type: "validate" | "mutate";
  readonly kind: Kind;
  readonly options: AdmissionWebhookOptions;
  /** Where it is served. */
  readonly path: string;
  answer(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionResponse>;
}

export type Webhook = AdmissionWebhook | ConversionWebhook;

/**
 * A webhook that lets writes of a kind through or refuses them.
 *
 *     validate(Gordon, ({ spec }) => (spec.replicas === 13 ? denied("replicas: expected a lucky number, found 13") : allowed()))
 *
 * The operator serves it (`webhooks`) and certifies itself; that the API server asks is what `operatorManifests` is for, or where
 * there are none, `toYaml(...webhookConfigurations(webhooks, { name, url: "https://127.0.0.1:9443" }))`, to be applied once.
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
      // A delete of a whole collection asks for each of its objects, and a CONNECT shows its options (PodExecOptions). What shows
      // nothing at all leaves a validator nothing to see.
      if (object === undefined) return responseOf(request.uid, allowed());
      return responseOf(request.uid, await validator(object, old, pending));
    },
  };
}

/** A webhook that changes objects of a kind before they are stored. It must change nothing on the second look. */
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
      const before = structuredClone(object); // a handler that edits what it was given still gets its patch
      const wanted = (await mutator(object, pending)) ?? object;
      if (isVerdict(wanted)) return responseOf(request.uid, wanted);
      return responseOf(request.uid, allowed(), isDeepStrictEqual(before, wanted) ? [] : jsonPatch(before, wanted));
    },
  };
}

/** Every object has metadata, no verdict has. */
const isVerdict = (answer: KubernetesObject | Verdict): answer is Verdict => !("metadata" in answer) && "allowed" in answer;

function declared(type: "validate" | "mutate", kind: Kind, options: AdmissionWebhookOptions) {
  const { group, version, kind: name } = kind;
  // As controller-runtime spells them, so that logs and dashboards look familiar: /validate-apps-v1-deployment
  const parts = [type, group.replaceAll(".", "-"), version, name.toLowerCase(), options.subresource ?? "", options.name ?? ""];
  return { type, kind, options, path: `/${parts.filter((part, i) => i === 1 || part !== "").join("-")}` };
}
