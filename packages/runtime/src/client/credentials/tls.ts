// What a TLS handshake needs, made once and shared by all connections until one of the texts it is made of changes.
import { createSecureContext, type SecureContext } from "node:tls";
import { ConfigError } from "../errors.ts";

/** Compared by identity: another one means that connections made with the old one should not be used for new requests. */
export interface TlsMaterial {
  /** Undefined for plain http. */
  readonly secureContext: SecureContext | undefined;
  /** Who may vouch for the server, PEM; undefined: those Node comes with. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly insecure: boolean;
}

interface TlsTexts {
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

export type TlsMaker = (texts: TlsTexts) => TlsMaterial;

export interface TlsOptions {
  readonly serverName?: string | undefined;
  readonly insecure?: boolean | undefined;
  /** The server speaks http without TLS. */
  readonly plain?: boolean | undefined;
  /** For messages. */
  readonly origin: string;
}

/** The same material for the same texts. */
export function tlsMaker({ serverName, insecure = false, plain = false, origin }: TlsOptions): TlsMaker {
  let last: { readonly texts: TlsTexts; readonly material: TlsMaterial } | undefined;
  return (texts) => {
    if (last !== undefined && same(last.texts, texts)) return last.material;
    try {
      last = { texts, material: { secureContext: plain ? undefined : contextOf(texts), ca: texts.ca, serverName, insecure } };
    } catch (cause) {
      // Certificate and key are two files: for a moment one is new and the other old. The old pair serves until both are.
      if (last === undefined) {
        throw new ConfigError(
          `${origin}: expected a certificate, its key and an authority in PEM, found ${(cause as Error).message}`,
          { cause },
        );
      }
    }
    return last.material;
  };
}

function contextOf({ ca, certificate, key }: TlsTexts): SecureContext {
  return createSecureContext({ ...(ca && { ca }), ...(certificate && { cert: certificate }), ...(key && { key }) });
}

function same(a: TlsTexts, b: TlsTexts): boolean {
  return a.ca === b.ca && a.certificate === b.certificate && a.key === b.key;
}
