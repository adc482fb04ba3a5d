// What a credential plugin prints: an ExecCredential, checked.

import { Secret } from "../config/secret.ts";
import { ConfigError } from "../errors.ts";
import { foundInsteadOfToken } from "./token.ts";

export interface ExecCredential {
  readonly token: Secret | undefined;
  readonly certificate: Secret | undefined;
  readonly key: Secret | undefined;
  /** Wall-clock milliseconds; undefined: good until refused. */
  readonly expiresAt: number | undefined;
}

interface RawCredential {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

/** @param what For messages: the plugin. What it printed is never repeated in one. */
export function parseExecCredential(text: string, apiVersion: string, what: string): ExecCredential {
  const { status, ...raw } = parsed(text, what);
  if (raw.kind !== "ExecCredential" || raw.apiVersion !== apiVersion) {
    throw new ConfigError(`${what}: expected an ExecCredential of ${apiVersion}, found ${raw.kind} of ${raw.apiVersion}`);
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status ?? {};
  if (!token && !certificate && !key) throw new ConfigError(`${what}: expected a token or a client certificate, found neither`);
  const instead = token ? foundInsteadOfToken(token) : undefined;
  if (instead !== undefined) throw new ConfigError(`${what}: expected a token of one line, found ${instead}`);
  if (!certificate !== !key) throw new ConfigError(`${what}: expected a client certificate and its key, found only one of them`);
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAt)) throw new ConfigError(`${what}: expected expirationTimestamp to be a date, found another text`);
  return { token: hidden(token), certificate: hidden(certificate), key: hidden(key), expiresAt };
}

function parsed(text: string, what: string): RawCredential {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The parser's message quotes the text, which may be a credential.
  }
  throw new ConfigError(`${what}: expected it to print an ExecCredential as JSON, found ${text.length} other characters`);
}

function hidden(text: string | undefined): Secret | undefined {
  return text ? new Secret(text) : undefined;
}
