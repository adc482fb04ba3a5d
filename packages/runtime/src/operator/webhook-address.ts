// Where the API server finds the webhooks of an operator that was not told otherwise: the program and its manifests must agree.
import type { WebhookAddress } from "../webhook/configuration.ts";

/** A Service of its own, in the namespace the operator runs in. */
export function usualWebhookAddress(name: string, namespace: string) {
  return { service: { namespace, name: `${name}-webhook` } } as const satisfies WebhookAddress;
}

/** The port of the container that it leads to. */
export const webhookPort = { name: "webhooks", containerPort: 9443 } as const;
