// Kubeconfig files: what is written in them, and how several become one. As kubectl does it: the first file to name a
// cluster, a user or a context wins, whole; the first to name a current context wins; files that do not exist are passed
// over; paths inside a file are relative to that file.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../errors.ts";

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

/** An entry, and the folder that its relative paths start from. */
export interface Located<T> {
  readonly entry: T;
  readonly folder: string;
}

/** All files as one. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, Located<ClusterEntry>>;
  readonly users: ReadonlyMap<string, Located<UserEntry>>;
  readonly contexts: ReadonlyMap<string, Located<ContextEntry>>;
  readonly currentContext: string | undefined;
  /** The files that were there, for messages. */
  readonly files: readonly string[];
}

/** The files, earlier ones first. @throws ConfigError for one that is there and cannot be read or understood */
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
  // Only people's machines have a kubeconfig; a pod does without, and should not pay for a YAML parser.
  const { parse: parseYaml } = await import("yaml");
  let content: unknown;
  try {
    content = parseYaml(text);
  } catch (error) {
    // The parser quotes the lines it dislikes, and a kubeconfig is full of secrets: only where, not what.
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
