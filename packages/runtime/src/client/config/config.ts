// How to connect to one API server, from a kubeconfig or from the service account of a pod. Files and credential plugins are named here
// and read when needed, because they can change.

import { BlockList, isIP } from "node:net";
import { inspect } from "node:util";
import { ConfigError } from "../errors.ts";

/** PEM text, inline or in a file that may be replaced at run time. */
export type Source = { readonly data: Secret } | { readonly file: string };

export interface ConnectionConfig {
  /** "https://host:port", optionally with a path prefix. */
  readonly server: string;
  /** The default for namespaced objects without a namespace. "default" unless configured. */
  readonly namespace: string;
  readonly tls: TlsConfig;
  /** An http, https or socks5 proxy. A Secret because it may contain a password. */
  readonly proxyUrl?: Secret | undefined;
  readonly user: UserConfig;
  /** Whether the source has credentials that are left out of `user`, because the server uses http. */
  readonly withheldCredentials?: boolean | undefined;
  /** The source of this configuration, for error messages: "context kind of /home/me/.kube/config". */
  readonly origin: string;
}

export interface TlsConfig {
  /** The certificate authorities to verify the server with. @default those of Node.js */
  readonly ca?: Source | undefined;
  /** The TLS server name (SNI) to request and verify, if it differs from the host of the URL. */
  readonly serverName?: string | undefined;
  /** Do not verify the server's certificate. */
  readonly insecure?: boolean | undefined;
}

export interface UserConfig {
  readonly certificate?: Source | undefined;
  readonly key?: Source | undefined;
  readonly token?: Secret | undefined;
  /** Takes precedence over `token`. Read again when it is rotated. */
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: Secret } | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly impersonate?: Impersonation | undefined;
}

/** The user to impersonate, if the server allows it. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A program that prints credentials (client.authentication.k8s.io). */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** The cluster information passed to the plugin; undefined unless provideClusterInfo is set. */
  readonly clusterInfo?: ClusterInfo | undefined;
  readonly installHint?: string | undefined;
}

/** As defined by the exec credential protocol. */
export interface ClusterInfo {
  readonly server: string;
  readonly "tls-server-name"?: string | undefined;
  readonly "insecure-skip-tls-verify"?: boolean | undefined;
  readonly "certificate-authority-data"?: string | undefined;
  readonly "proxy-url"?: string | undefined;
  readonly "disable-compression"?: boolean | undefined;
  /** The cluster's extension named `client.authentication.k8s.io/exec`. */
  readonly config?: unknown;
}

// A secret value. Printing, logging or serializing it shows dots; only `reveal` returns it.

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

// The proxy settings of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), as in kubectl and Go. The proxy-url of a kubeconfig takes
// precedence.

/** The proxy for this server; undefined for none. */
export function proxyFromEnvironment(server: string, env: NodeJS.ProcessEnv): Secret | undefined {
  const { protocol, hostname, port } = new URL(server);
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = env[name] || env[name.toLowerCase()];
  const host = hostname.replace(/^\[|\]$/g, "");
  const effectivePort = port || (protocol === "https:" ? "443" : "80");
  if (!value || isLoopback(host) || isExempt(host, effectivePort, env.NO_PROXY || env.no_proxy || "")) return undefined;
  return proxyUrlOf(value.includes("://") ? value : `http://${value}`, name);
}

const schemes = ["http", "https", "socks5", "socks5h"];

/**
 * Validates a proxy URL. Done early, because `new URL` would reject it on the first request with an error that quotes the URL.
 *
 * @throws ConfigError without the value, which may contain a password
 */
export function proxyUrlOf(value: string, name: string): Secret {
  const url = URL.parse(value);
  if (url === null || url.hostname === "" || !schemes.includes(url.protocol.slice(0, -1)) || !isEscaped(url)) {
    throw new ConfigError(`expected ${name} to be a URL with ${schemes.join(", ")}, found something else`);
  }
  return new Secret(value);
}

/** A percent sign in a password must be escaped: "100%25". */
function isEscaped({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Loopback addresses never use a proxy. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

/** Whether NO_PROXY applies: a list of "*", domains (including subdomains), addresses and ranges, optionally with a port. */
function isExempt(host: string, port: string, noProxy: string): boolean {
  const entries = noProxy.split(",").map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === "*" || (entry !== "" && covers(entry, host.toLowerCase(), port)));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry.includes("/")) return inRange(entry, host);
  const [, address, word, onlyPort = port] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  const name = address ?? word ?? entry; // IPv6 without a port needs no brackets
  if (onlyPort !== port) return false;
  if (isIP(name) !== 0) return inRange(`${name}/${isIP(name) === 6 ? 128 : 32}`, host);
  // With a leading dot only subdomains match, without one the name matches, too.
  const bare = name.replace(/^\*?\./, "");
  return host.endsWith(`.${bare}`) || host === name;
}

/** An invalid range matches nothing, as in Go: one bad entry must not disconnect an operator from its cluster. */
function inRange(range: string, host: string): boolean {
  const [, network = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || Number(bits) > (family === 6 ? 128 : 32)) return false;
  const type = family === 6 ? "ipv6" : "ipv4";
  const block = new BlockList();
  block.addSubnet(network, Number(bits), type);
  return block.check(host, type);
}
