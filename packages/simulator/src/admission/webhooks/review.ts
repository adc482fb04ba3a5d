// The question a webhook is asked, and what its answer must look like.
import { isObject, type JsonObject, objectAt } from "../../json.ts";
import type { KindEntry } from "../../kinds/kind-entry.ts";
import { StatusError } from "../../server/status-error.ts";
import type { Subject } from "./matching.ts";

/** An answer that is none. */
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

export interface Verdict {
  readonly allowed: boolean;
  /** Operations of a JSON patch. */
  readonly patch: unknown;
  readonly status: JsonObject;
  readonly warnings: readonly string[];
}

/** @throws InvalidReviewError */
export function verdictIn(review: JsonObject, uid: string, mayPatch: boolean): Verdict {
  const { response, kind, apiVersion } = review;
  if (!isObject(response)) throw new InvalidReviewError("webhook response was absent");
  if (response.uid !== uid)
    throw new InvalidReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  if (kind !== "AdmissionReview" || apiVersion !== "admission.k8s.io/v1")
    throw new InvalidReviewError(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${apiVersion ?? "/"}, Kind=${kind ?? ""}`,
    );
  mustFitPatch(response, mayPatch);
  const { warnings } = response;
  return {
    allowed: response.allowed === true,
    patch: patchIn(response.patch),
    status: objectAt(response, "status"),
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

function mustFitPatch({ patch, patchType }: JsonObject, mayPatch: boolean): void {
  const complain = (what: string) => new InvalidReviewError(what);
  if (!mayPatch && patch) throw complain("validating webhook may not return response.patch");
  if (!mayPatch && patchType !== undefined) throw complain("validating webhook may not return response.patchType");
  if (mayPatch && patch && patchType === undefined) throw complain("webhook returned response.patch but not response.patchType");
  if (mayPatch && !patch && patchType !== undefined) throw complain("webhook returned response.patchType but not response.patch");
}

function patchIn(patch: unknown): unknown {
  if (typeof patch !== "string" || patch === "") return [];
  try {
    return JSON.parse(Buffer.from(patch, "base64").toString("utf8"));
  } catch {
    throw new InvalidReviewError("received undecodable patch in webhook response");
  }
}

/** The refusal, in the words of the webhook: whose words they are is said first. */
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
