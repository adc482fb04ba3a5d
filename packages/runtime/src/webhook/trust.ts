// Telling the API server whom to trust: the authority of our certificates is put into the webhook configurations and the
// conversion of CRDs (caBundle). Configurations are not ours alone (somebody may apply the manifest again, without it), so
// it is looked after for as long as the operator runs, and written only where it is missing or old.
import type { Client } from "../client/client.ts";
import { ConflictError } from "../client/errors.ts";
import { Backoff, jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
} from "../objects/kinds/admissionregistration.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import { NotRegisteredError } from "./errors.ts";
import type { Webhook } from "./webhooks.ts";

export interface TrustOptions {
  readonly client: Pick<Client, "find" | "update">;
  readonly webhooks: readonly Webhook[];
  /** Of the webhook configurations: the operator's name. */
  readonly name: string;
}

export interface TrustKeeperOptions extends TrustOptions {
  /** PEM, as it is now. */
  readonly trust: () => string | undefined;
  /** Milliseconds between two looks. @default 30 s */
  readonly everyMs?: number;
  readonly environment: Environment;
  readonly onProblem?: (error: unknown) => void;
}

/** What became of one place where trust belongs. */
export interface Placed {
  readonly place: string;
  readonly found: "written" | "there" | "missing";
}

/** Puts this trust wherever it belongs and is not already there; says what it found in each place. */
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

/** Keeps it there until the signal aborts. */
export async function keepTrust(options: TrustKeeperOptions, signal: AbortSignal): Promise<void> {
  const { environment, everyMs = 30_000 } = options;
  // Operators are often started before their configuration is applied; then the first seconds count.
  const backoff = new Backoff({ initialMs: 1_000, maxMs: everyMs, jitter: 0.1 }, environment);
  const told = new Set<string>();
  while (!signal.aborted) {
    const settled = await lookOnce(options, told, signal);
    if (settled) backoff.reset();
    const waitMs = settled ? jittered(everyMs, 0.1, environment.random) : backoff.next();
    await environment.clock.sleep(waitMs, signal).catch(() => {}); // the loop's condition sees the abort
  }
}

/** True if it is everywhere now. A place that is missing is told of once, until it is there and missing again. */
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

/** The object with the trust in it; the same one if it has it; undefined if there is no place for it. */
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
      if (!(error instanceof ConflictError)) throw error; // somebody else wrote; look again
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

/** Undefined if the CRD is not converted by a webhook: ours is never asked, and what versions do not share is lost. */
function withConversionBundle<T extends CustomResourceDefinition>(crd: T, caBundle: string): T | undefined {
  const { conversion } = crd.spec;
  const clientConfig: WebhookClientConfig | undefined = conversion?.webhook?.clientConfig;
  if (conversion?.webhook === undefined || clientConfig === undefined) return undefined;
  if (clientConfig.caBundle === caBundle) return crd;
  const webhook = { ...conversion.webhook, clientConfig: { ...clientConfig, caBundle } };
  return { ...crd, spec: { ...crd.spec, conversion: { ...conversion, webhook } } };
}
