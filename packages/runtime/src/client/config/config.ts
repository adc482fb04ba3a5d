// How to reach one API server, and as whom: the value that kubeconfig files and the service account of a pod both come
// down to. Nothing is read or run yet that may change later; files and plugins are named here and looked at when needed.
import type { Secret } from "./secret.ts";

/** PEM text, at hand or in a file that may be replaced while we run. */
export type Source = { readonly data: Secret } | { readonly file: string };

export interface ConnectionConfig {
  /** "https://host:port", perhaps with a path in front of all paths. */
  readonly server: string;
  /** Where namespaced objects go that name no namespace; "default" if nobody said otherwise. */
  readonly namespace: string;
  readonly tls: TlsConfig;
  /** An http, https or socks5 proxy. A Secret because it may contain a password. */
  readonly proxyUrl?: Secret | undefined;
  readonly user: UserConfig;
  /** Where this came from, for messages: "context kind of /home/me/.kube/config". */
  readonly origin: string;
}

export interface TlsConfig {
  /** The authorities that may vouch for the server. @default those Node comes with */
  readonly ca?: Source | undefined;
  /** The name to ask for and to check, where it is not the host of the URL. */
  readonly serverName?: string | undefined;
  /** Do not check the server's certificate at all. */
  readonly insecure?: boolean | undefined;
}

export interface UserConfig {
  readonly certificate?: Source | undefined;
  readonly key?: Source | undefined;
  readonly token?: Secret | undefined;
  /** Wins over `token`, and is read again as it is rotated. */
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: Secret } | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly impersonate?: Impersonation | undefined;
}

/** Act as somebody else, if the server allows it. */
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
  /** What the plugin is told of the cluster; undefined unless it asked (provideClusterInfo). */
  readonly clusterInfo?: ClusterInfo | undefined;
  readonly installHint?: string | undefined;
}

/** As the plugin's protocol spells it. */
export interface ClusterInfo {
  readonly server: string;
  readonly "tls-server-name"?: string | undefined;
  readonly "insecure-skip-tls-verify"?: boolean | undefined;
  readonly "certificate-authority-data"?: string | undefined;
  readonly "proxy-url"?: string | undefined;
  readonly "disable-compression"?: boolean | undefined;
  /** The extension named `client.authentication.k8s.io/exec` of the cluster. */
  readonly config?: unknown;
}
