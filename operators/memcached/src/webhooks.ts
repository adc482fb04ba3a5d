// What is filled in and what is refused before a Memcached is stored. The CRD has the same rules, and more clusters than
// those with webhooks: here are what the original did in webhooks, and what a schema cannot do, which is to understand 0 and
// "" as "as usual".
import { type AdmissionWebhook, allowed, denied, equals, mutate, type Verdict, validate } from "@memhog/runtime";
import { Memcached, oddSize, tagForm, usual } from "./api.ts";

type Options = NonNullable<Parameters<typeof validate>[2]>;

/** @param options see AdmissionWebhookOptions: which namespaces, how long, and what if we are down */
export function webhooks(options: Options = {}): readonly AdmissionWebhook[] {
  return [mutate(Memcached, withUsual, options), validate(Memcached, judge, options)];
}

/** The object with what is usual where nothing is asked for. */
export function withUsual(memcached: Memcached): Memcached {
  const { size, version, ...rest } = memcached.spec;
  return { ...memcached, spec: { ...rest, size: size || usual.size, version: version || usual.version } };
}

/** Whether this may be stored. */
export function judge({ metadata, spec }: Memcached, old: Memcached | undefined): Verdict {
  // What was stored before there was a rule can still be labelled, and must be able to go: a finalizer is removed by an update.
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
