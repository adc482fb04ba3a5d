// CustomResourceDefinitions put into a cluster. Most people install them from manifests, with more rights than an operator
// should have at work; this is for `--install-crds`, for tests and for a first try on a laptop.
import type { Client } from "../client/client.ts";
import { ForbiddenError, NotFoundError, TooManyRequestsError } from "../client/errors.ts";
import { timeoutSignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import type { Kind } from "../objects/object.ts";
import { may } from "./access.ts";
import { type CrdOptions, crdOf, type NamedCrd } from "./custom-resource-definition.ts";
import type { AnyResource } from "./define-resource.ts";
import { CrdNotEstablishedError } from "./errors.ts";

export interface InstallOptions extends CrdOptions {
  readonly clock: Clock;
  /** Who the API server notes as the author. @default "memhog-runtime" */
  readonly fieldManager?: string;
  /** For all of them together. @default 30 s */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What `installCrds` needs, for those who grant it. */
export const installAccess = [may(CustomResourceDefinition, "get", "create", "patch")] as const;

/** Milliseconds between two looks at a definition that is not served yet; usually the second look finds it served. */
const pollMs = 100;

/**
 * Applies the definitions, creating or changing them, and returns when all are served: when their objects can be listed,
 * which is a moment after the server says that they are established ("storage is (re)initializing"). Those with a conversion
 * are not listed: they may need whoever waits here.
 *
 * @throws CrdNotEstablishedError if one is refused its names or is being deleted; DeadlineExceededError after `timeoutMs`
 */
export async function installCrds(
  client: Pick<Client, "apply" | "get" | "list">,
  resources: readonly AnyResource[],
  options: InstallOptions,
): Promise<void> {
  const { clock, timeoutMs = 30_000, signal, fieldManager = "memhog-runtime" } = options;
  const crds = resources.map((resource) => ({ resource, crd: crdOf(resource, options) }));
  using limit = timeoutSignal({
    clock,
    timeoutMs,
    signal,
    what: `install ${crds.map(({ crd }) => crd.metadata.name).join(", ")}`,
  });
  await Promise.all(
    crds.map(async ({ resource, crd }) => {
      // They are ours: a field that somebody else changed is taken back.
      const applied = await client.apply(CustomResourceDefinition, crd, { fieldManager, force: true, signal: limit.signal });
      await established(client, { ...applied, metadata: { ...applied.metadata, name: crd.metadata.name } }, clock, limit.signal);
      // To list what is converted may take our own webhook, which is not served yet; the caches ask until it is.
      if (options.conversion === undefined) await listable(client, resource, clock, limit.signal);
    }),
  );
}

async function established(client: Pick<Client, "get">, applied: NamedCrd, clock: Clock, signal: AbortSignal): Promise<void> {
  const { name } = applied.metadata;
  for (let crd: CustomResourceDefinition = applied; !isServed(crd, name); ) {
    await clock.sleep(pollMs, signal);
    crd = await client.get(CustomResourceDefinition, { name }, { signal });
  }
}

/** Until a list is answered. Whoever may not list will not, and need not know. */
async function listable(client: Pick<Client, "list">, kind: Kind, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await client.list(kind, { limit: 1, signal });
      return;
    } catch (error) {
      if (error instanceof ForbiddenError) return;
      if (!(error instanceof NotFoundError || error instanceof TooManyRequestsError)) throw error;
    }
    await clock.sleep(pollMs, signal);
  }
}

/** Whether the API server serves it; throws if waiting is in vain. */
function isServed({ metadata, status }: CustomResourceDefinition, name: string): boolean {
  if (metadata?.deletionTimestamp !== undefined)
    throw new CrdNotEstablishedError(`${name}: expected it to be served, found it being deleted; install it when it is gone`);
  const conditions = status?.conditions ?? [];
  const refused = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
  if (refused !== undefined)
    throw new CrdNotEstablishedError(`${name}: expected its names to be free, found: ${refused.message ?? refused.reason}`);
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}
