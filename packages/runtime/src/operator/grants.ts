// Everything an operator may do, computed from its parts: what its controllers declare, and what the runtime itself needs
// to elect a leader and to serve webhooks. `rolesFor(operator.grants, …)` prints the Roles.
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../objects/kinds/admissionregistration.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import { Secret } from "../objects/kinds/core/config.ts";
import type { Kind } from "../objects/object.ts";
import { type Grant, may } from "../schema/access.ts";
import { impliedBy } from "../schema/implied-access.ts";
import { installAccess } from "../schema/install.ts";
import type { Webhook } from "../webhook/webhooks.ts";
import type { ResolvedOptions } from "./options.ts";

/** The Secret in which replicas share certificates of their own making. */
export const certificateSecretOf = (name: string): string => `${name}-webhook-certificates`;

export function grantsOf(options: ResolvedOptions): readonly Grant[] {
  const { name, controllers, election, installCrds } = options;
  return [
    ...controllers.flatMap(({ grants }) => grants),
    ...(election === undefined ? [] : impliedBy({ lease: election.lease?.name ?? name })),
    ...(installCrds.length === 0 ? [] : installAccess),
    ...webhookGrants(options),
  ];
}

/** Certificates that somebody else makes take no rights at all. */
function webhookGrants({ name, webhooks, webhookServer }: ResolvedOptions): readonly Grant[] {
  const selfMade = webhookServer.certificateFolder === undefined && webhookServer.certificates === undefined;
  if (webhooks.length === 0 || !selfMade) return [];
  const trusting = (type: Webhook["type"], kind: Kind, names: readonly string[]) =>
    webhooks.some((webhook) => webhook.type === type) ? [may(kind, "get", "update", { names })] : [];
  const converted = webhooks.filter(({ type }) => type === "convert").map(({ kind }) => `${kind.plural}.${kind.group}`);
  return [
    may(Secret, "create", { where: "operator" }),
    may(Secret, "get", "update", { names: [certificateSecretOf(name)], where: "operator" }),
    ...trusting("validate", ValidatingWebhookConfiguration, [name]),
    ...trusting("mutate", MutatingWebhookConfiguration, [name]),
    ...trusting("convert", CustomResourceDefinition, converted),
  ];
}
