// Certificates in a Secret of type kubernetes.io/tls, where people and tools expect them: tls.crt and tls.key are what the
// server shows, ca.crt is what callers trust. ca.key has the authorities' keys, in the order of ca.crt.
import type { Client } from "../client/client.ts";
import { Secret } from "../objects/kinds/core/config.ts";
import type { ObjectRef, Stored } from "../objects/object.ts";
import { belongTogether } from "./certificates.ts";
import type { CertificateState } from "./rotation.ts";
import type { CertificateStore } from "./self-made.ts";

/** Keeps certificates in this Secret, made on behalf of `owner`. */
export function secretStore(client: Pick<Client, "find" | "create" | "update">, ref: ObjectRef, owner: string): CertificateStore {
  let lastRead: Stored<Secret> | undefined;
  return {
    async read(signal) {
      lastRead = await client.find(Secret, ref, { signal });
      return lastRead && { state: stateIn(lastRead.data ?? {}), version: lastRead.metadata.resourceVersion };
    },
    async write(state, instead, signal) {
      const data = dataOf(state);
      if (instead === undefined || lastRead === undefined) {
        const labels = { "app.kubernetes.io/managed-by": owner };
        await client.create(Secret, { metadata: { ...ref, labels }, type: "kubernetes.io/tls", data }, { signal });
      } else {
        // With the resourceVersion it was read with: somebody else's newer certificates are never overwritten.
        await client.update(Secret, { ...lastRead, data: { ...lastRead.data, ...data } }, { signal });
      }
    },
  };
}

function dataOf({ authorities, serving }: CertificateState): Readonly<Record<string, string>> {
  const plain = {
    "tls.crt": serving.certificate,
    "tls.key": serving.key,
    "ca.crt": authorities.map(({ certificate }) => certificate).join(""),
    "ca.key": authorities.map(({ key }) => key).join(""),
  };
  return Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
}

/**
 * Undefined if it is not what we would have written, which somebody may have edited or restored in parts: then it is made anew. A
 * key that is not the certificate's would keep the server from starting, and an authority's from signing what anybody trusts.
 */
function stateIn(data: Readonly<Record<string, string>>): CertificateState | undefined {
  const text = (name: string) => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const keys = pemBlocks(text("ca.key"));
  const authorities = pemBlocks(text("ca.crt")).map((certificate, i) => ({ certificate, key: keys[i] ?? "" }));
  const serving = { certificate: text("tls.crt"), key: text("tls.key") };
  return authorities.length > 0 && [serving, ...authorities].every(belongTogether) ? { authorities, serving } : undefined;
}

const pemBlocks = (text: string): readonly string[] => text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n?/g) ?? [];
