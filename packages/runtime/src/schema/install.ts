// Installs CustomResourceDefinitions, for `--install-crds`, for tests and for development clusters. In production, install
// them from manifests: a running operator should not have that permission.
import type { Client } from "../client/client.ts";
import { ForbiddenError, NotFoundError, TooManyRequestsError } from "../client/errors.ts";
import { timeoutSignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import type { Kind } from "../objects/object.ts";
import { type CrdOptions, crdOf, type NamedCrd } from "./custom-resource-definition.ts";
import type { AnyResource } from "./define-resource.ts";
import { CrdNotEstablishedError } from "./errors.ts";
import { allow } from "./permissions.ts";

export interface InstallOptions extends CrdOptions {
  readonly clock: Clock;
  /** The field manager. @default "memhog-runtime" */
  readonly fieldManager?: string;
  /** Milliseconds for all definitions together. @default 30 s */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The permissions that `installCrds` requires. */
export const applyRbac = [allow(CustomResourceDefinition, "get", "create", "patch")] as const;

/** Milliseconds between two reads of a definition that is not served yet; usually the second read finds it served. */
const pollMs = 100;

/**
 * Applies the definitions and returns when all are served: when their objects can be listed, which is shortly after the
 * condition Established ("storage is (re)initializing"). Definitions with a conversion are not listed, because their webhook
 * may start only after this returns.
 *
 * @throws CrdNotEstablishedError if its names are taken or it is being deleted; DeadlineExceededError after `timeoutMs`
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
      // The operator owns its definitions: reset fields that others changed.
      const applied = await client.apply(CustomResourceDefinition, crd, { fieldManager, force: true, signal: limit.signal });
      await established(client, { ...applied, metadata: { ...applied.metadata, name: crd.metadata.name } }, clock, limit.signal);
      // A list may need our own conversion webhook, which is not served yet; the caches retry until it is.
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

/** Waits until a list succeeds. A client without permission to list does not wait. */
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

/** Whether the API server serves the definition; throws if it never will. */
function isServed({ metadata, status }: CustomResourceDefinition, name: string): boolean {
  if (metadata?.deletionTimestamp !== undefined)
    throw new CrdNotEstablishedError(`${name}: expected it to be served, found it being deleted → install it when it is gone`);
  const conditions = status?.conditions ?? [];
  const rejected = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
  if (rejected !== undefined)
    throw new CrdNotEstablishedError(
      `${name}: expected its names to be accepted, found a conflict → rename it or remove the other definition: ${rejected.message ?? rejected.reason}`,
    );
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

// Manifests as YAML. The library is loaded on first use, because a running operator needs only JSON and should use little
// memory.

/**
 * Prints objects as YAML documents, keys in their own order: `console.log(await toYaml(crdOf(Gordon), ...rolesFor(grants, options)))`.
 *
 * Quotes for YAML 1.1, which Kubernetes reads: there `y`, `no`, `on` and `0o7` are not strings.
 */
export async function toYaml(...objects: readonly object[]): Promise<string> {
  const { stringify } = await import("yaml");
  const documents = objects.map((object) =>
    stringify(object, { schema: "yaml-1.1", lineWidth: 0, aliasDuplicateObjects: false }),
  );
  return documents.join("---\n");
}
