// Reads kubeconfig files and converts a context to a ConnectionConfig.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../errors.ts";
import {
  type ClusterInfo,
  type ConnectionConfig,
  type ExecConfig,
  type Impersonation,
  proxyUrlOf,
  Secret,
  type Source,
  type TlsConfig,
  type UserConfig,
} from "./config.ts";

/** @throws ConfigError that names the missing entry and the existing ones */
export function connectionOf(kubeconfig: Kubeconfig, contextName = kubeconfig.currentContext): ConnectionConfig {
  const where = kubeconfig.files.join(", ");
  if (contextName === undefined) {
    throw new ConfigError(`${where}: expected a current-context, found none → choose one of ${namesOf(kubeconfig.contexts)}`);
  }
  const { entry: context } = entryOf(kubeconfig.contexts, "context", contextName, where);
  const origin = `context ${contextName} of ${where}`;
  const cluster = entryOf(kubeconfig.clusters, "cluster", context.cluster, origin);
  // A context without a user is valid: anonymous access.
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
    // Credentials are never sent without TLS, as in client-go: `kubectl proxy` and tunnels authenticate themselves.
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
 * The scheme of a server without one, as in client-go: https if certificates are configured, otherwise http ("localhost:8080").
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

/** Inline data takes precedence over a file, as in kubectl. */
function sourceOf(base64: string | undefined, file: string | undefined, folder: string): Source | undefined {
  if (base64) return { data: new Secret(Buffer.from(base64, "base64").toString("utf8")) };
  return file ? { file: resolve(folder, file) } : undefined;
}

// The `exec` section of a kubeconfig user, checked.

const versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const modes = ["Never", "IfAvailable", "Always"] as const;

export function execConfigOf(exec: ExecEntry, folder: string, cluster: Located<ClusterEntry>, origin: string): ExecConfig {
  const { apiVersion = "", command = "" } = exec;
  if (!versions.includes(apiVersion)) {
    throw new ConfigError(
      `${origin}: expected exec.apiVersion to be ${versions.join(" or ")}, found ${JSON.stringify(apiVersion)}`,
    );
  }
  if (command === "") throw new ConfigError(`${origin}: expected exec.command, found none`);
  return {
    apiVersion,
    // With a slash it is a path relative to the file; without one it is looked up in PATH.
    command: command.includes("/") ? resolve(folder, command) : command,
    args: exec.args ?? [],
    env: Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    interactiveMode: modeOf(exec, origin),
    clusterInfo: exec.provideClusterInfo ? clusterInfoOf(cluster, origin) : undefined,
    installHint: exec.installHint,
  };
}

function modeOf({ apiVersion, interactiveMode }: ExecEntry, origin: string): ExecConfig["interactiveMode"] {
  // v1 requires it; earlier versions had this default.
  const mode = interactiveMode ?? (apiVersion?.endsWith("/v1beta1") ? "IfAvailable" : undefined);
  const known = modes.find((each) => each === mode);
  if (known !== undefined) return known;
  throw new ConfigError(
    `${origin}: expected exec.interactiveMode to be ${modes.join(", ")}, found ${JSON.stringify(mode ?? "")}`,
  );
}

function clusterInfoOf({ entry, folder }: Located<ClusterEntry>, origin: string): ClusterInfo {
  const file = entry["certificate-authority"];
  const data = entry["certificate-authority-data"] ?? (file && base64Of(resolve(folder, file), origin));
  const extension = entry.extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec");
  return {
    server: entry.server ?? "",
    "tls-server-name": entry["tls-server-name"],
    "insecure-skip-tls-verify": entry["insecure-skip-tls-verify"],
    "certificate-authority-data": data,
    "proxy-url": entry["proxy-url"],
    "disable-compression": entry["disable-compression"],
    config: extension?.extension ?? null,
  };
}

function base64Of(file: string, origin: string): string {
  try {
    return readFileSync(file).toString("base64");
  } catch (cause) {
    throw new ConfigError(`${origin}: expected certificate-authority to be a readable file, found ${(cause as Error).message}`, {
      cause,
    });
  }
}

// Reads and merges kubeconfig files as kubectl does. The first file that defines a cluster, user, context or the current context wins.
// Files that do not exist are skipped. Paths in a file are relative to that file.

export interface ClusterEntry {
  readonly server?: string;
  readonly "tls-server-name"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "proxy-url"?: string;
  readonly "disable-compression"?: boolean;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

export interface UserEntry {
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly "as-uid"?: string;
  readonly "as-groups"?: readonly string[];
  readonly "as-user-extra"?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: ExecEntry;
  readonly "auth-provider"?: { readonly name?: string };
}

export interface ExecEntry {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
  readonly installHint?: string;
}

interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** An entry and the folder that its relative paths start from. */
export interface Located<T> {
  readonly entry: T;
  readonly folder: string;
}

/** The merged files. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, Located<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Located<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Located<ContextEntry>>;
  readonly currentContext: string | undefined;
  /** The existing files, for error messages. */
  readonly files: readonly string[];
}

/** Reads the files; earlier ones take precedence. @throws ConfigError for a file that exists and is unreadable or invalid */
export async function readKubeconfigs(paths: readonly string[]): Promise<Kubeconfig> {
  const found = await Promise.all(paths.map((path) => readOne(resolve(path))));
  const files = found.filter((file) => file !== undefined);
  return {
    clusters: named(files, "clusters", "cluster"),
    users: named(files, "users", "user"),
    contexts: named(files, "contexts", "context"),
    currentContext: files.map(({ content }) => content["current-context"]).find((name) => name) || undefined,
    files: files.map(({ path }) => path),
  };
}

interface RawFile {
  readonly "current-context"?: string;
  readonly clusters?: readonly ({ readonly name?: string } & Record<string, unknown>)[] | null;
  readonly users?: RawFile["clusters"];
  readonly contexts?: RawFile["clusters"];
}

interface ReadFile {
  readonly path: string;
  readonly content: RawFile;
}

async function readOne(path: string): Promise<ReadFile | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ConfigError(`kubeconfig ${path}: expected a readable file, found ${(cause as Error).message}`, { cause });
  }
  return { path, content: await parse(path, text) };
}

async function parse(path: string, text: string): Promise<RawFile> {
  // Loaded only when needed: in a pod there is no kubeconfig.
  const { parse: parseYaml } = await import("yaml");
  let content: unknown;
  try {
    content = parseYaml(text);
  } catch (error) {
    // The parser's message quotes the text, which may contain secrets, so report only the line number.
    const [at] = (error as { linePos?: readonly { readonly line: number }[] }).linePos ?? [];
    throw new ConfigError(`kubeconfig ${path}: expected YAML or JSON, found something else${at ? ` in line ${at.line}` : ""}`);
  }
  if (content === null || content === undefined) return {}; // an empty file is a kubeconfig without entries
  if (typeof content !== "object" || Array.isArray(content)) {
    throw new ConfigError(`kubeconfig ${path}: expected a mapping with clusters, users and contexts, found ${typeof content}`);
  }
  return content;
}

function named<T>(files: readonly ReadFile[], list: "clusters" | "users" | "contexts", field: string): Map<string, Located<T>> {
  const result = new Map<string, Located<T>>();
  for (const { path, content } of files) {
    for (const item of content[list] ?? []) {
      if (item.name === undefined || result.has(item.name)) continue;
      result.set(item.name, { entry: (item[field] ?? {}) as T, folder: dirname(path) });
    }
  }
  return result;
}
