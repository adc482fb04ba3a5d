// The current credentials. Tokens change every hour, certificates every few months and plugin credentials at any time, so every
// request asks for them and normally gets cached ones.

import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Clock } from "../../concurrency/environment.ts";
import type { ConnectionConfig, Impersonation, Source, UserConfig } from "../config/config.ts";
import { ConfigError } from "../errors.ts";
import { type ExecCredential, ExecPlugin } from "./exec-plugin.ts";

export interface Identity {
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsMaterial;
  /** The credential of the plugin, if it was used. */
  readonly exec: ExecCredential | undefined;
}

export interface Identities {
  current(): Promise<Identity>;
  /** The server rejected these credentials (401): check for newer ones next time. */
  refused(identity: Identity): void;
  /** There was no response, possibly because a certificate is no longer trusted: check the files next time. */
  unanswered(): void;
}

export interface IdentityOptions {
  readonly clock: Clock;
  /** The environment of plugins. */
  readonly env: NodeJS.ProcessEnv;
  readonly interactive?: boolean | undefined;
}

export function makeIdentities(config: ConnectionConfig, options: IdentityOptions): Identities {
  const { user, tls } = config;
  const { clock } = options;
  const ca = sourceOf(tls.ca, "a certificate authority", clock);
  const certificate = sourceOf(user.certificate, "a client certificate", clock);
  const key = sourceOf(user.key, "a client key", clock);
  const token = tokenOf(config, clock);
  const plugin = user.exec && new ExecPlugin(user.exec, options);
  const makeTls = tlsMaker({ ...tls, plain: config.server.startsWith("http:"), origin: config.origin });
  const constantHeaders = { ...basicHeader(user), ...impersonationHeaders(user.impersonate) };

  return {
    current: async () => {
      // A token file takes precedence over a plugin, as in kubectl; the plugin then does not run.
      const exec = token === undefined ? await plugin?.credential() : undefined;
      const bearer = ((await token?.read()) ?? exec?.token?.reveal())?.trim();
      const texts = {
        ca: await ca?.read(),
        certificate: exec?.certificate?.reveal() ?? (await certificate?.read()),
        key: exec?.key?.reveal() ?? (await key?.read()),
      };
      const headers = { ...constantHeaders, ...(bearer && { authorization: `Bearer ${bearer}` }) };
      try {
        return { headers, tls: makeTls(texts), exec };
      } catch (error) {
        for (const source of [ca, certificate, key]) source?.stale(); // the files may be corrected by the next attempt
        if (exec !== undefined) plugin?.refused(exec);
        throw error;
      }
    },
    refused: ({ exec }) => {
      for (const source of [token, certificate, key]) source?.stale();
      if (exec !== undefined) plugin?.refused(exec);
    },
    unanswered: () => {
      for (const source of [ca, token, certificate, key]) source?.stale();
    },
  };
}

/** Whether a request with `b` can have a different result than one with `a`. */
export function differ(a: Identity, b: Identity): boolean {
  return a.headers.authorization !== b.headers.authorization || a.tls !== b.tls;
}

function tokenOf({ user: { token, tokenFile }, origin }: ConnectionConfig, clock: Clock): TextSource | undefined {
  if (tokenFile !== undefined) return fileSource(tokenFile, "a token of one line", clock, foundInsteadOfToken);
  const instead = token && foundInsteadOfToken(token.reveal());
  if (instead !== undefined) throw new ConfigError(`${origin}: expected a token of one line, found ${instead}`);
  return token && constantSource(token.reveal());
}

function sourceOf(source: Source | undefined, what: string, clock: Clock): TextSource | undefined {
  if (source === undefined) return undefined;
  return "file" in source ? fileSource(source.file, what, clock) : constantSource(source.data.reveal());
}

function basicHeader({ basic }: UserConfig): Record<string, string> {
  if (basic === undefined) return {};
  const pair = Buffer.from(`${basic.username}:${basic.password.reveal()}`).toString("base64");
  return { authorization: `Basic ${pair}` };
}

function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  const extra = Object.entries(as.extra ?? {}).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
    [...values],
  ]);
  return {
    "impersonate-user": as.user,
    ...(as.uid && { "impersonate-uid": as.uid }),
    ...(as.groups?.length && { "impersonate-group": [...as.groups] }),
    ...Object.fromEntries(extra),
  };
}

/** TLS settings, created once and shared by all connections until a file changes. A new object means: open new connections. */
export interface TlsMaterial {
  /** Undefined for plain http. */
  readonly secureContext: SecureContext | undefined;
  /** The certificate authorities in PEM; undefined: those of Node.js. */
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
  /** The server uses http without TLS. */
  readonly plain?: boolean | undefined;
  /** For error messages. */
  readonly origin: string;
}

/** Returns the same object for the same input. */
export function tlsMaker({ serverName, insecure = false, plain = false, origin }: TlsOptions): TlsMaker {
  let last: { readonly texts: TlsTexts; readonly material: TlsMaterial } | undefined;
  return (texts) => {
    if (last !== undefined && same(last.texts, texts)) return last.material;
    try {
      last = { texts, material: { secureContext: plain ? undefined : contextOf(texts), ca: texts.ca, serverName, insecure } };
    } catch (cause) {
      // Certificate and key are replaced one after the other. Use the old pair until both are new.
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

// A file that may be replaced at run time: the kubelet renews a pod's token about once an hour, cert-manager replaces certificates. It is
// read again after a minute, or at once after `stale`.

/** Tokens are renewed when a fifth of their life is left; the shortest life is ten minutes. */
const lookAgainMs = 60_000;

/** A text that may change. */
export interface TextSource {
  read(): Promise<string>;
  /** The text is no longer valid: read it again next time. */
  stale(): void;
}

/** @param foundInstead Describes an invalid content; undefined: the content is valid. */
export function fileSource(
  path: string,
  what: string,
  clock: Clock,
  foundInstead: (text: string) => string | undefined = () => undefined,
): TextSource {
  let known: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<string> | undefined;

  const look = async (): Promise<string> => {
    try {
      const text = await readFile(path, "utf8");
      const instead = foundInstead(text);
      if (instead !== undefined) throw new Error(instead);
      known = text;
    } catch (cause) {
      // A file that is being replaced can be missing or empty for a moment, so use the previous content.
      if (known === undefined) throw new ConfigError(`expected ${what} in ${path}, found ${(cause as Error).message}`, { cause });
    }
    readAt = clock.monotonic();
    return known;
  };
  return {
    read: () => {
      if (known !== undefined && clock.monotonic() - readAt < lookAgainMs) return Promise.resolve(known);
      pending ??= look().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    stale: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** A text that never changes. */
export function constantSource(text: string): TextSource {
  return { read: () => Promise.resolve(text), stale: () => {} };
}

/**
 * Describes why a text is not a token that fits in a header; undefined: it is one. Node.js would reject the
 * header of every request.
 */
export function foundInsteadOfToken(text: unknown): string | undefined {
  if (typeof text !== "string") return "something else";
  if (text.trim() === "") return "nothing";
  return /\p{Cc}/u.test(text.trim()) ? "several lines, or what is no text" : undefined;
}
