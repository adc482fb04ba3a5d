// Defaults and validates Memcacheds at admission. The CRD has the same rules, so the operator also works without webhooks. Only a
// webhook can replace an explicit size 0 or version "" by the default.
import { allowed, denied, mutate, validate } from "@memhog/runtime";
import { equals } from "@memhog/runtime/objects";
import type { AdmissionWebhook, Verdict } from "@memhog/runtime/webhook";
import { defaults, Memcached, oddSize, tagForm } from "./api.ts";

type Options = NonNullable<Parameters<typeof validate>[2]>;

/** @param options see AdmissionWebhookOptions: namespaces, timeout, failure policy */
export function webhooks(options: Options = {}): readonly AdmissionWebhook[] {
  return [mutate(Memcached, withDefaultValues, options), validate(Memcached, validateMemcached, options)];
}

/** Fills in the default size and version where they are empty. */
export function withDefaultValues(memcached: Memcached): Memcached {
  const { size, version, ...rest } = memcached.spec;
  return { ...memcached, spec: { ...rest, size: size || defaults.size, version: version || defaults.version } };
}

/** Rejects an even size and a malformed version. */
export function validateMemcached({ metadata, spec }: Memcached, old: Memcached | undefined): Verdict {
  // An object stored before the rule existed can still be labeled, and deleted: removing a finalizer is an update.
  if (metadata?.deletionTimestamp !== undefined || (old !== undefined && equals(old.spec, spec))) return allowed();
  const causes = [
    ...(spec.size % 2 === 1 ? [] : [{ field: "spec.size", message: oddSize, reason: "FieldValueInvalid" }]),
    ...(tagForm.test(spec.version)
      ? []
      : [
          {
            field: "spec.version",
            message: `expected the tag of an image, like 1.6.9, found ${JSON.stringify(spec.version)}`,
            reason: "FieldValueInvalid",
          },
        ]),
  ];
  return causes.length === 0 ? allowed() : denied(causes.map(({ message }) => message).join("; "), { causes });
}
