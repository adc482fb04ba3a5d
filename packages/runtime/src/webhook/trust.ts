// Keeps caBundle up to date: the certificates' authority in the webhook configurations and in the conversion of CRDs. Others
// write these objects, too (applying the manifest again may remove caBundle), so they are checked for as long as the operator
// runs, and written only if caBundle is missing or outdated.
import type { Client } from "../client/client.ts";
import { ConflictError } from "../client/errors.ts";
import { Backoff, jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
} from "../objects/kinds/extension.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import { NotRegisteredError } from "./errors.ts";
import type { Webhook } from "./webhooks.ts";

export interface TrustOptions {
  readonly client: Pick<Client, "find" | "update">;
  readonly webhooks: readonly Webhook[];
  /** Name of the webhook configurations: the operator's name. */
  readonly name: string;
}

export interface TrustKeeperOptions extends TrustOptions {
  /** The current PEM certificates. */
  readonly trust: () => string | undefined;
  /** Polling interval in milliseconds. @default 30 s */
  readonly everyMs?: number;
  readonly environment: Environment;
  readonly onProblem?: (error: unknown) => void;
}

/** The result for one object that holds a caBundle. */
export interface Placed {
  readonly place: string;
  readonly found: "written" | "there" | "missing";
}

/** Sets caBundle in every object where it is missing or outdated; returns the result for each object. */
export async function spreadTrust(trust: string, options: TrustOptions, signal?: AbortSignal): Promise<readonly Placed[]> {
  const { client, webhooks, name } = options;
  const caBundle = Buffer.from(trust).toString("base64");
  const types = new Set(webhooks.map(({ type }) => type));
  const put = async <T extends KubernetesObject>(kind: Kind<T>, named: string, change: Change<T>): Promise<Placed> => ({
    place: `${kind.kind} ${named}`,
    found: await putInto(client, kind, named, change, signal),
  });
  const conversions = webhooks.filter(({ type }) => type === "convert");
  return Promise.all([
    ...(types.has("validate") ? [put(ValidatingWebhookConfiguration, name, (seen) => withBundles(seen, caBundle))] : []),
    ...(types.has("mutate") ? [put(MutatingWebhookConfiguration, name, (seen) => withBundles(seen, caBundle))] : []),
    ...conversions.map(({ kind: { plural, group } }) =>
      put(CustomResourceDefinition, `${plural}.${group}`, (seen) => withConversionBundle(seen, caBundle)),
    ),
  ]);
}

/** Keeps caBundle up to date until the signal aborts. */
export async function keepTrust(options: TrustKeeperOptions, signal: AbortSignal): Promise<void> {
  const { environment, everyMs = 30_000 } = options;
  // Operators often start before their configuration is applied; then retry within seconds.
  const backoff = new Backoff({ initialMs: 1_000, maxMs: everyMs, jitter: 0.1 }, environment);
  const told = new Set<string>();
  while (!signal.aborted) {
    const settled = await lookOnce(options, told, signal);
    if (settled) backoff.reset();
    const waitMs = settled ? jittered(everyMs, 0.1, environment.random) : backoff.next();
    await environment.clock.sleep(waitMs, signal).catch(() => {}); // the loop condition handles the abort
  }
}

/** Resolves to true if caBundle is set everywhere. Reports a missing object once, and again after it existed. */
async function lookOnce(options: TrustKeeperOptions, told: Set<string>, signal: AbortSignal): Promise<boolean> {
  const trust = options.trust();
  if (trust === undefined) return true;
  try {
    const places = await spreadTrust(trust, options, signal);
    for (const { place, found } of places) {
      if (found === "missing" && !told.has(place)) options.onProblem?.(notRegistered(place));
      if (found === "missing") told.add(place);
      else told.delete(place);
    }
    return places.every(({ found }) => found !== "missing");
  } catch (error) {
    if (!signal.aborted) options.onProblem?.(error);
    return false;
  }
}

const notRegistered = (place: string) =>
  new NotRegisteredError(
    `expected ${place} to say where our webhooks are, found that it does not → apply the operator's manifests; until then nobody asks them`,
  );

/** Returns the object with caBundle; the same value if it is current; undefined if the object has no place for it. */
type Change<T extends KubernetesObject> = (object: Stored<T>) => Stored<T> | undefined;

async function putInto<T extends KubernetesObject>(
  client: TrustOptions["client"],
  kind: Kind<T>,
  name: string,
  change: Change<T>,
  signal: AbortSignal | undefined,
): Promise<Placed["found"]> {
  for (;;) {
    const seen = await client.find(kind, { name }, { signal });
    const wanted = seen && change(seen);
    if (wanted === undefined) return "missing";
    if (wanted === seen) return "there";
    try {
      await client.update<T>(kind, wanted, { signal });
      return "written";
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error; // read again after a conflict
    }
  }
}

function withBundles<T extends ValidatingWebhookConfiguration | MutatingWebhookConfiguration>(
  configuration: T,
  caBundle: string,
): T {
  const webhooks = configuration.webhooks ?? [];
  if (webhooks.every(({ clientConfig }) => clientConfig.caBundle === caBundle)) return configuration;
  return {
    ...configuration,
    webhooks: webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } })),
  };
}

/** Undefined if the CRD has no conversion webhook: then fields that its versions do not share are lost. */
function withConversionBundle<T extends CustomResourceDefinition>(crd: T, caBundle: string): T | undefined {
  const { conversion } = crd.spec;
  const clientConfig: WebhookClientConfig | undefined = conversion?.webhook?.clientConfig;
  if (conversion?.webhook === undefined || clientConfig === undefined) return undefined;
  if (clientConfig.caBundle === caBundle) return crd;
  const webhook = { ...conversion.webhook, clientConfig: { ...clientConfig, caBundle } };
  return { ...crd, spec: { ...crd.spec, conversion: { ...conversion, webhook } } };
}
