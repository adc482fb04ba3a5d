// Who we are, at this moment. Tokens change every hour, certificates every few months, plugins answer when they like: so
// every request asks, and mostly gets what is already at hand.
import type { Clock } from "../../concurrency/environment.ts";
import type { ConnectionConfig, Impersonation, Source, UserConfig } from "../config/config.ts";
import type { ExecCredential } from "./exec-credential.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { constantSource, fileSource, type TextSource } from "./file-source.ts";
import { type TlsMaterial, tlsMaker } from "./tls.ts";

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
  const token = tokenOf(user, clock);
  const plugin = user.exec && new ExecPlugin(user.exec, options);
  const makeTls = tlsMaker({ ...tls, plain: config.server.startsWith("http:"), origin: config.origin });
  const constantHeaders = { ...basicHeader(user), ...impersonationHeaders(user.impersonate) };

  return {
    current: async () => {
      // A token of the file goes before that of the plugin, as with kubectl; then the plugin need not even run.
      const exec = token === undefined ? await plugin?.credential() : undefined;
      const bearer = (await token?.read())?.trim() ?? exec?.token?.reveal();
      const material = makeTls({
        ca: await ca?.read(),
        certificate: exec?.certificate?.reveal() ?? (await certificate?.read()),
        key: exec?.key?.reveal() ?? (await key?.read()),
      });
      return { headers: { ...constantHeaders, ...(bearer && { authorization: `Bearer ${bearer}` }) }, tls: material, exec };
    },
    refused: ({ exec }) => {
      for (const source of [token, certificate, key]) source?.stale();
      if (exec !== undefined) plugin?.refused(exec);
    },
  };
}

/** Whether a request with the second can end differently than one with the first. */
export function differ(a: Identity, b: Identity): boolean {
  return a.headers.authorization !== b.headers.authorization || a.tls !== b.tls;
}

function tokenOf({ token, tokenFile }: UserConfig, clock: Clock): TextSource | undefined {
  if (tokenFile !== undefined) return fileSource(tokenFile, "a token", clock);
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
