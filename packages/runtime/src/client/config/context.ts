// From a context of a kubeconfig to a ConnectionConfig: which cluster, which user, and whether the two make sense.
import { resolve } from "node:path";
import { ConfigError } from "../errors.ts";
import type { ConnectionConfig, Impersonation, Source, TlsConfig, UserConfig } from "./config.ts";
import { execConfigOf } from "./exec-entry.ts";
import type { ClusterEntry, Kubeconfig, Located, UserEntry } from "./kubeconfig-file.ts";
import { proxyUrlOf } from "./proxy.ts";
import { Secret } from "./secret.ts";

/** @throws ConfigError naming what is missing and what there is instead */
export function connectionOf(kubeconfig: Kubeconfig, contextName = kubeconfig.currentContext): ConnectionConfig {
  const where = kubeconfig.files.join(", ");
  if (contextName === undefined) {
    throw new ConfigError(`${where}: expected a current-context, found none → choose one of ${namesOf(kubeconfig.contexts)}`);
  }
  const { entry: context } = entryOf(kubeconfig.contexts, "context", contextName, where);
  const origin = `context ${contextName} of ${where}`;
  const cluster = entryOf(kubeconfig.clusters, "cluster", context.cluster, origin);
  // A context without a user is legal: anonymous.
  const user = context.user ? entryOf(kubeconfig.users, "user", context.user, origin) : undefined;
  const proxyUrl = cluster.entry["proxy-url"];
  const tls = tlsOf(cluster, origin);
  const as = user ? userOf(user, cluster, origin) : {};
  const server = serverOf(cluster.entry, schemeFor(tls, as), origin);
  return {
    server,
    namespace: context.namespace || "default",
    tls,
    proxyUrl: proxyUrl ? proxyUrlOf(proxyUrl, `the proxy-url of ${origin}`) : undefined,
    // In clear nobody is told a secret, as with client-go: `kubectl proxy` and tunnels know who they are themselves.
    user: server.startsWith("https:") ? as : { impersonate: as.impersonate },
    origin,
  };
}

function entryOf<T>(entries: ReadonlyMap<string, Located<T>>, what: string, name: string | undefined, where: string): Located<T> {
  const found = name === undefined ? undefined : entries.get(name);
  if (found !== undefined) return found;
  throw new ConfigError(`${where}: expected a ${what} named ${JSON.stringify(name ?? "")}, found ${namesOf(entries)}`);
}

function namesOf(entries: ReadonlyMap<string, unknown>): string {
  return [...entries.keys()].join(", ") || "none";
}

/**
 * Of a server that names none, as client-go has it: whoever speaks of certificates means TLS; "localhost:8080" alone is plain.
 */
function schemeFor({ ca, insecure }: TlsConfig, { certificate }: UserConfig): "http" | "https" {
  return ca !== undefined || insecure || certificate !== undefined ? "https" : "http";
}

function serverOf({ server = "" }: ClusterEntry, scheme: string, origin: string): string {
  const text = /^[a-z]+:\/\//i.test(server) ? server : `${scheme}://${server}`;
  const url = URL.parse(text);
  if (server !== "" && url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new ConfigError(`${origin}: expected the cluster's server to be an http(s) URL, found ${JSON.stringify(server)}`);
}

function tlsOf({ entry, folder }: Located<ClusterEntry>, origin: string): TlsConfig {
  const ca = sourceOf(entry["certificate-authority-data"], entry["certificate-authority"], folder);
  const insecure = entry["insecure-skip-tls-verify"] === true;
  if (insecure && ca !== undefined) {
    throw new ConfigError(`${origin}: expected either certificate-authority or insecure-skip-tls-verify, found both`);
  }
  return { ca, serverName: entry["tls-server-name"] || undefined, insecure };
}

function userOf({ entry, folder }: Located<UserEntry>, cluster: Located<ClusterEntry>, origin: string): UserConfig {
  const provider = entry["auth-provider"];
  if (provider) {
    const remedy = "use an exec credential plugin, as kubectl does";
    throw new ConfigError(`${origin}: expected no auth-provider, found ${provider.name ?? "one"} → ${remedy}`);
  }
  const { token, tokenFile, username, password } = entry;
  if ((token || tokenFile) && username) {
    throw new ConfigError(`${origin}: expected either a token or a username and password, found both`);
  }
  return {
    ...certificateOf({ entry, folder }, origin),
    token: token ? new Secret(token) : undefined,
    tokenFile: tokenFile ? resolve(folder, tokenFile) : undefined,
    basic: username ? { username, password: new Secret(password ?? "") } : undefined,
    exec: entry.exec ? execConfigOf(entry.exec, folder, cluster, origin) : undefined,
    impersonate: impersonationOf(entry, origin),
  };
}

function certificateOf({ entry, folder }: Located<UserEntry>, origin: string): Pick<UserConfig, "certificate" | "key"> {
  const certificate = sourceOf(entry["client-certificate-data"], entry["client-certificate"], folder);
  const key = sourceOf(entry["client-key-data"], entry["client-key"], folder);
  if ((certificate === undefined) === (key === undefined)) return { certificate, key };
  throw new ConfigError(`${origin}: expected a client certificate and its key, found only the ${key ? "key" : "certificate"}`);
}

function impersonationOf(entry: UserEntry, origin: string): Impersonation | undefined {
  const { as: user, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = entry;
  if (user) return { user, uid, groups, extra };
  if (!uid && !groups?.length && !extra) return undefined;
  throw new ConfigError(`${origin}: expected "as" beside as-uid, as-groups or as-user-extra, found none`);
}

/** Data at hand wins over a file, as in kubectl. */
function sourceOf(base64: string | undefined, file: string | undefined, folder: string): Source | undefined {
  if (base64) return { data: new Secret(Buffer.from(base64, "base64").toString("utf8")) };
  return file ? { file: resolve(folder, file) } : undefined;
}
