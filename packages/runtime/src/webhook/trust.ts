// Telling the API server whom to trust: the authority of our certificates is put into the webhook configurations and the
// conversion of CRDs (caBundle). Configurations are not ours alone (somebody may apply the manifest again, without it), so
// it is looked after for as long as the operator runs, and written only where it is missing or old.
import type { Client } from "../client/client.ts";
import { ConflictError } from "../client/errors.ts";
import { jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
} from "../objects/kinds/admissionregistration.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
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

/** Puts this trust wherever it belongs and is not already there; says how many objects it changed. */
export async function spreadTrust(
  trust: string,
  { client, webhooks, name }: TrustOptions,
  signal?: AbortSignal,
): Promise<number> {
  const caBundle = Buffer.from(trust).toString("base64");
  const admits = (type: Webhook["type"]) => webhooks.some((webhook) => webhook.type === type);
  const conversions = webhooks.filter((webhook) => webhook.type === "convert").map(({ kind }) => `${kind.plural}.${kind.group}`);
  const put = <T extends KubernetesObject>(kind: Kind<T>, named: string, change: (object: Stored<T>) => Stored<T>) =>
    putInto(client, kind, named, change, signal);
  const changes = await Promise.all([
    admits("validate") && put(ValidatingWebhookConfiguration, name, (seen) => withBundles(seen, caBundle)),
    admits("mutate") && put(MutatingWebhookConfiguration, name, (seen) => withBundles(seen, caBundle)),
    ...conversions.map((crd) => put(CustomResourceDefinition, crd, (seen) => withConversionBundle(seen, caBundle))),
  ]);
  return changes.filter(Boolean).length;
}

/** Keeps it there until the signal aborts. */
export async function keepTrust(options: TrustKeeperOptions, signal: AbortSignal): Promise<void> {
  const { environment, everyMs = 30_000, trust } = options;
  while (!signal.aborted) {
    const now = trust();
    try {
      if (now !== undefined) await spreadTrust(now, options, signal);
    } catch (error) {
      if (!signal.aborted) options.onProblem?.(error);
    }
    await environment.clock.sleep(jittered(everyMs, 0.1, environment.random), signal).catch(() => {});
  }
}

/** True if it had to be written. A configuration that is not there yet is found by a later look. */
async function putInto<T extends KubernetesObject>(
  client: TrustOptions["client"],
  kind: Kind<T>,
  name: string,
  change: (object: Stored<T>) => Stored<T>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (;;) {
    const seen = await client.find(kind, { name }, { signal });
    if (seen === undefined) return false;
    const wanted = change(seen);
    if (wanted === seen) return false;
    try {
      await client.update<T>(kind, wanted, { signal });
      return true;
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

/** A CRD that is not converted by webhook is left alone. */
function withConversionBundle<T extends CustomResourceDefinition>(crd: T, caBundle: string): T {
  const { conversion } = crd.spec;
  const clientConfig: WebhookClientConfig | undefined = conversion?.webhook?.clientConfig;
  if (conversion?.webhook === undefined || clientConfig === undefined || clientConfig.caBundle === caBundle) return crd;
  const webhook = { ...conversion.webhook, clientConfig: { ...clientConfig, caBundle } };
  return { ...crd, spec: { ...crd.spec, conversion: { ...conversion, webhook } } };
}
