// Reads kubeconfig files and converts a context to a ConnectionConfig.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type * as Yaml from "yaml";
import type * as Zod from "zod";
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
    withheldCredentials: server.startsWith("http:") && hasCredentials(as),
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

function hasCredentials({ token, tokenFile, basic, exec, key }: UserConfig): boolean {
  return [token, tokenFile, basic, exec, key].some((credential) => credential !== undefined);
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
//
// A file is checked against the schema below before anything uses it. An error names the file and the field, never the value: a password
// that YAML reads as a number is still a password.

/** Built on demand: in a pod there is no kubeconfig. Unknown fields are ignored, as in kubectl. */
function kubeconfigSchema({ z }: typeof Zod) {
  const text = z.string().optional();
  const flag = z.boolean().optional();
  const texts = z.array(z.string()).optional();
  const exec = z.object({
    apiVersion: text,
    command: text,
    args: texts,
    env: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    interactiveMode: text,
    provideClusterInfo: flag,
    installHint: text,
  });
  const user = z.object({
    "client-certificate": text,
    "client-certificate-data": text,
    "client-key": text,
    "client-key-data": text,
    token: text,
    tokenFile: text,
    username: text,
    password: text,
    as: text,
    "as-uid": text,
    "as-groups": texts,
    "as-user-extra": z.record(z.string(), z.array(z.string())).optional(),
    exec: exec.optional(),
    "auth-provider": z.object({ name: text }).optional(),
  });
  const cluster = z.object({
    server: text,
    "tls-server-name": text,
    "insecure-skip-tls-verify": flag,
    "certificate-authority": text,
    "certificate-authority-data": text,
    "proxy-url": text,
    "disable-compression": flag,
    extensions: z.array(z.object({ name: text, extension: z.unknown() })).optional(),
  });
  const context = z.object({ cluster: text, user: text, namespace: text });
  return z.object({
    "current-context": text,
    clusters: z.array(z.object({ name: text, cluster: cluster.optional() })).optional(),
    users: z.array(z.object({ name: text, user: user.optional() })).optional(),
    contexts: z.array(z.object({ name: text, context: context.optional() })).optional(),
  });
}

type KubeconfigFile = Zod.z.infer<ReturnType<typeof kubeconfigSchema>>;
type Entry<List extends "clusters" | "users" | "contexts"> = NonNullable<KubeconfigFile[List]>[number];
type ClusterEntry = NonNullable<Entry<"clusters">["cluster"]>;
type UserEntry = NonNullable<Entry<"users">["user"]>;
type ContextEntry = NonNullable<Entry<"contexts">["context"]>;
type ExecEntry = NonNullable<UserEntry["exec"]>;

/** An entry and the folder that its relative paths start from. */
interface Located<T> {
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
    clusters: named(files, ({ clusters = [] }) => clusters.map(({ name, cluster = {} }) => ({ name, entry: cluster }))),
    users: named(files, ({ users = [] }) => users.map(({ name, user = {} }) => ({ name, entry: user }))),
    contexts: named(files, ({ contexts = [] }) => contexts.map(({ name, context = {} }) => ({ name, entry: context }))),
    currentContext: files.map(({ content }) => content["current-context"]).find((name) => name) || undefined,
    files: files.map(({ path }) => path),
  };
}

interface ReadFile {
  readonly path: string;
  readonly content: KubeconfigFile;
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

async function parse(path: string, text: string): Promise<KubeconfigFile> {
  const [yaml, zod] = await Promise.all([import("yaml"), import("zod")]);
  const content = contentOf(path, text, yaml);
  const { data, error } = kubeconfigSchema(zod).safeParse(content);
  if (error === undefined) return data;
  const [{ path: at, message } = { path: [], message: "" }] = error.issues;
  throw new ConfigError(
    `kubeconfig ${path}: ${fieldAt(at)}: ${message} → text that looks like a number or a boolean needs quotes`,
  );
}

/** The parser's errors and warnings quote the text, which may contain secrets, so this reports only the line number. */
function contentOf(path: string, text: string, { parseDocument }: typeof Yaml): unknown {
  let where = "";
  try {
    const document = parseDocument(text, { logLevel: "silent" });
    // A warning means that a value is not what the file says: `password: !x secret` would be read without its tag.
    const [problem] = [...document.errors, ...document.warnings];
    // JSON has neither cycles nor other types. A field that is null is absent, as in kubectl.
    if (problem === undefined) return JSON.parse(JSON.stringify(document.toJS(), (_, value) => value ?? undefined) ?? "{}");
    const remedy = problem.code === "TAG_RESOLVE_FAILED" ? " → remove the tag" : "";
    where = ` in line ${problem.linePos?.[0].line}${remedy}`;
  } catch {
    // too many aliases, one inside itself, or too many levels
  }
  throw new ConfigError(`kubeconfig ${path}: expected YAML or JSON, found something else${where}`);
}

/** `users[0].user.password`. A key of the file is shown, a value never is. */
function fieldAt(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the file";
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .slice(1);
}

function named<T>(
  files: readonly ReadFile[],
  listed: (content: KubeconfigFile) => readonly { readonly name: string | undefined; readonly entry: T }[],
): Map<string, Located<T>> {
  const result = new Map<string, Located<T>>();
  for (const { path, content } of files) {
    for (const { name, entry } of listed(content)) {
      if (name !== undefined && !result.has(name)) result.set(name, { entry, folder: dirname(path) });
    }
  }
  return result;
}
