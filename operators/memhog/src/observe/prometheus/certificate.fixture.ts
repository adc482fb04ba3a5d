// A certificate for a server of a test, and who vouches for it.
import { systemEnvironment } from "@memhog/runtime";
import { selfSignedCertificates } from "@memhog/runtime/webhook";

export async function certificate(
  host: string,
): Promise<{ readonly key: string; readonly cert: string; readonly trust: string }> {
  const source = selfSignedCertificates({ name: "test", names: [host], environment: systemEnvironment() });
  for await (const made of source(new AbortController().signal))
    return { key: made.key, cert: made.certificate, trust: made.trust ?? "" };
  throw new Error("expected a certificate, found none");
}
