// Before the operator starts, what people get wrong most often: no cluster, no definitions, no rights. Each gets one message that
// says what to do; without this they would see caches that never become ready.
import { type Client, dynamicKind, type Grant, type KubernetesObject, NotFoundError, TransportError } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { operatorName } from "../api/names.ts";

/** Something the user has to do first; the message says what. */
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
      `expected an answer from the API server, found: ${cause.message}\n→ check --kubeconfig and --context, or try: kubectl version`,
      { cause },
    );
  }
}

/** @throws NotReadyToStartError if the kinds are not there */
export async function checkDefinitions(client: Client): Promise<void> {
  const served = await Promise.all([AppMonitor, AppMemory].map(async (kind) => [kind.kind, await client.discovery.serves(kind)]));
  const missing = served.filter(([, there]) => !there).map(([kind]) => kind);
  if (missing.length === 0) return;
  throw new NotReadyToStartError(
    `expected the cluster to know AppMonitor and AppMemory, found no ${missing.join(" and no ")}\n` +
      `→ start once with --install-crds, or apply them: ${operatorName} crd | kubectl apply -f -`,
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

/** May we do this, there? No namespace: everywhere. */
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
    // Where rights are not a thing that can be asked for (our simulator), everyone may do everything.
    if (error instanceof NotFoundError) return true;
    throw error;
  }
}

/** Without these nothing works: what is read through caches. @throws NotReadyToStartError that names what is missing */
export async function checkRights(
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
    `expected to be allowed what the operator needs, found these rights missing:\n${missing.map((right) => `    ${right}\n`).join("")}` +
      `→ somebody with more rights applies: ${operatorName} rbac${namespaces === "all" ? " --all-namespaces" : ""} | kubectl apply -f -`,
  );
}
