// Who we are, at this moment. Tokens change every hour, certificates every few months, plugins answer when they like: so
// every request asks, and mostly gets what is already at hand.
import type { Clock } from "../../concurrency/environment.ts";
import type { ConnectionConfig, Impersonation, Source, UserConfig } from "../config/config.ts";
import { ConfigError } from "../errors.ts";
import type { ExecCredential } from "./exec-credential.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { constantSource, fileSource, type TextSource } from "./file-source.ts";
import { type TlsMaterial, tlsMaker } from "./tls.ts";
import { foundInsteadOfToken } from "./token.ts";

export interface Identity {
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsMaterial;
  /** The credential of a plugin, if it has a part in this. */
  readonly exec: ExecCredential | undefined;
}

export interface Identities {
  current(): Promise<Identity>;
  /** The server refused this one (401): look for a newer one next time. */
  refused(identity: Identity): void;
  /** There was no answer, perhaps because one of us does not trust the other's certificate any more: look at the files next time. */
  unanswered(): void;
}

export interface IdentityOptions {
  readonly clock: Clock;
  /** What plugins inherit. */
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
      // A token of the file goes before that of the plugin, as with kubectl; then the plugin need not even run.
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
        for (const source of [ca, certificate, key]) source?.stale(); // whoever wrote nonsense may have mended it by the next time
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

/** Whether a request with the second can end differently than one with the first. */
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
