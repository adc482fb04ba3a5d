// Checks before the operator starts: the API server responds, the CRDs are installed, the required permissions are granted. Without
// these checks, a setup mistake shows only as caches that never sync.
import { type Client, dynamicKind, type KubernetesObject, NotFoundError } from "@memhog/runtime";
import { TransportError } from "@memhog/runtime/client";
import type { Grant } from "@memhog/runtime/schema";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { operatorName } from "../api/names.ts";

/** A setup step is missing. The message says which. */
export class NotReadyToStartError extends Error {
  readonly code = "MEMHOG_NOT_READY_TO_START";
  override readonly name = "NotReadyToStartError";
}

/** @throws NotReadyToStartError if the API server does not answer */
export async function checkServer(client: Client): Promise<void> {
  try {
    await client.discovery.version();
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause;
    throw new NotReadyToStartError(
      `expected a response from the API server, found: ${cause.message}\n→ check --kubeconfig and --context, or run: kubectl version`,
      { cause },
    );
  }
}

/** @throws NotReadyToStartError if a CRD is not installed */
export async function checkDefinitions(client: Client): Promise<void> {
  const served = await Promise.all([AppMonitor, AppMemory].map(async (kind) => [kind.kind, await client.discovery.serves(kind)]));
  const missing = served.filter(([, there]) => !there).map(([kind]) => kind);
  if (missing.length === 0) return;
  throw new NotReadyToStartError(
    `expected the CRDs of AppMonitor and AppMemory, found no ${missing.join(" and no ")}\n` +
      `→ start once with --install-crds, or run: ${operatorName} crd | kubectl apply -f -`,
  );
}

interface AccessReview extends KubernetesObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string | undefined>> };
  readonly status?: { readonly allowed?: boolean };
}

const SelfSubjectAccessReview = dynamicKind<AccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
});

/** @param namespace All namespaces if undefined. */
export async function allowed(client: Client, grant: Grant, verb: string, namespace?: string): Promise<boolean> {
  const { group, version, plural: resource } = grant.kind;
  const { subresource } = grant;
  const resourceAttributes = {
    group,
    version,
    resource,
    verb,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
  };
  try {
    const review = await client.create(SelfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } });
    return review.status?.allowed === true;
  } catch (error) {
    // A server without access reviews (the simulator) has no authorization.
    if (error instanceof NotFoundError) return true;
    throw error;
  }
}

/** Checks `list` and `watch` on every cached kind. @throws NotReadyToStartError that names the missing permissions */
export async function checkPermissions(
  client: Client,
  grants: readonly Grant[],
  namespaces: readonly string[] | "all",
): Promise<void> {
  const places = namespaces === "all" ? [undefined] : namespaces;
  const asked = grants
    .filter(({ where, subresource }) => where !== "operator" && subresource === undefined)
    .flatMap((grant) => grant.verbs.filter((verb) => verb === "list" || verb === "watch").map((verb) => ({ grant, verb })));
  const answers = await Promise.all(
    asked.flatMap(({ grant, verb }) =>
      (grant.kind.namespaced ? places : [undefined]).map(async (namespace) => ({
        right: `${verb} ${grant.kind.plural}${namespace === undefined ? "" : ` in ${namespace}`}`,
        yes: await allowed(client, grant, verb, namespace),
      })),
    ),
  );
  const missing = answers.filter(({ yes }) => !yes).map(({ right }) => right);
  if (missing.length === 0) return;
  throw new NotReadyToStartError(
    `expected permission to list and watch every kind the operator uses, found these missing:\n${missing.map((right) => `    ${right}\n`).join("")}` +
      `→ a cluster administrator can grant them: ${operatorName} rbac${namespaces === "all" ? " --all-namespaces" : ""} | kubectl apply -f -`,
  );
}
