// Questions that are asked by creating an object: may I, may they, who am I. Everyone is admin, so the answers are short.
import type { JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { builtIn } from "../kinds/row.ts";
import { admin } from "./admit.ts";
import { json } from "./answer.ts";
import { nowText, type ServerCore } from "./core.ts";
import { bodyOf, draftIn } from "./decode.ts";
import type { ApiRequest, ApiResponse } from "./handler.ts";
import { notImplemented } from "./status-error.ts";

const review = (group: string, kind: string, namespaced = false) => builtIn(group, "v1", kind, { namespaced, verbs: ["create"] });

export const reviewKinds: readonly KindEntry[] = [
  review("authorization.k8s.io", "LocalSubjectAccessReview", true),
  review("authorization.k8s.io", "SelfSubjectAccessReview"),
  review("authorization.k8s.io", "SelfSubjectRulesReview"),
  review("authorization.k8s.io", "SubjectAccessReview"),
  review("authentication.k8s.io", "SelfSubjectReview"),
  review("authentication.k8s.io", "TokenReview"),
];

const everything = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** The status that answers a review of this kind. */
const answers: Readonly<Record<string, (core: ServerCore) => JsonObject>> = {
  LocalSubjectAccessReview: () => ({ status: { allowed: true } }),
  SelfSubjectAccessReview: () => ({ status: { allowed: true } }),
  SubjectAccessReview: () => ({ status: { allowed: true } }),
  SelfSubjectRulesReview: () => ({ status: everything }),
  SelfSubjectReview: (core) => ({ metadata: { creationTimestamp: nowText(core) }, status: { userInfo: admin } }),
};

export function reviewAnswer(core: ServerCore, kind: KindEntry, request: ApiRequest): ApiResponse {
  const answer = answers[kind.kind];
  if (answer === undefined) throw notImplemented(`${kind.kind}: it keeps no tokens`);
  const asked = draftIn(bodyOf(request, kind.kind), kind);
  return json(201, JSON.stringify({ ...asked, ...answer(core) }));
}
