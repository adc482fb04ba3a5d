// What to search for, where, and with which settings. Options and environment are read once and passed down as a Search.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { NotExecutableError, UnsupportedPlatformError } from "../errors.ts";
import { isExecutableFile, run } from "../process/command.ts";
import { type Progress, progressOn } from "../progress.ts";
import { helmVersion, type KubernetesVersion, resolveVersion } from "../versions.ts";
import { Downloads } from "./release.ts";

export type BinaryName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubelet"
  | "kube-proxy"
  | "kubectl"
  | "helm";

export interface Binary {
  readonly name: BinaryName;
  /** The project that releases it. */
  readonly project: "etcd" | "kubernetes" | "helm";
  /** Of the project, without a "v". */
  readonly version: string;
}

/** The binary of this name that belongs to a Kubernetes version. */
export function binaryOf(name: BinaryName, kubernetes: KubernetesVersion): Binary {
  if (name === "etcd") return { name, project: "etcd", version: kubernetes.etcd };
  if (name === "helm") return { name, project: "helm", version: helmVersion };
  return { name, project: "kubernetes", version: kubernetes.patch };
}

/** For messages: "kube-apiserver 1.37.1". */
export function describe({ name, version }: Binary): string {
  return `${name} ${version}`;
}

export interface SearchOptions {
  /** "1.37", "v1.37" or "1.37.1". @default the newest supported version */
  readonly kubernetes?: string | undefined;
  /** Cancels downloads, builds and waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Where LOCALCLUSTER_*, KUBEBUILDER_ASSETS, PATH, HOME and Go's own variables come from. @default process.env */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** @default lines on stderr */
  readonly progress?: Progress | undefined;
}

export interface Search {
  readonly kubernetes: KubernetesVersion;
  /** Whether the caller asked for that version. */
  readonly versionRequested: boolean;
  readonly architecture: "amd64" | "arm64";
  /** The cache folder. */
  readonly cache: string;
  /** LOCALCLUSTER_RELEASE_URL: a mirror of the releases of Kubernetes, etcd and Helm. */
  readonly mirror: string | undefined;
  /** LOCALCLUSTER_GO: the Go command. */
  readonly go: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  readonly progress: Progress;
  readonly downloads: Downloads;
}

/** What searching one source resulted in. Not finding a binary is not an error, because there are more sources. */
export type Outcome = { readonly path: string } | { readonly whyNot: string };

export function prepareSearch(options: SearchOptions, machine: Machine = process): Search {
  const env = options.env ?? process.env;
  return {
    kubernetes: resolveVersion(options.kubernetes),
    versionRequested: options.kubernetes !== undefined,
    architecture: architectureOf(machine),
    cache: cacheDirectory(env),
    mirror: env.LOCALCLUSTER_RELEASE_URL?.replace(/\/+$/, "") || undefined,
    go: env.LOCALCLUSTER_GO || "go",
    env,
    signal: options.signal,
    progress: options.progress ?? progressOn(),
    downloads: new Downloads({ signal: options.signal }),
  };
}

/** $LOCALCLUSTER_CACHE, else the cache folder of the XDG convention. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  if (env.LOCALCLUSTER_CACHE) return resolve(env.LOCALCLUSTER_CACHE);
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "localcluster");
}

interface Machine {
  readonly platform: string;
  readonly arch: string;
}

/** Releases use Go's names of architectures, not Node's. */
function architectureOf({ platform, arch }: Machine): "amd64" | "arm64" {
  if (platform === "linux" && arch === "x64") return "amd64";
  if (platform === "linux" && arch === "arm64") return "arm64";
  throw new UnsupportedPlatformError(`${platform} on ${arch}`);
}

/** The environment variable that names this binary: LOCALCLUSTER_KUBE_APISERVER. */
export function variableOf(name: BinaryName): string {
  return `LOCALCLUSTER_${name.toUpperCase().replaceAll("-", "_")}`;
}

/**
 * The first source: environment variables.
 *
 *     LOCALCLUSTER_KUBE_APISERVER=/path/to/kube-apiserver     this file, whatever its version
 *     KUBEBUILDER_ASSETS=/path/to/folder                      the binaries in a folder, as envtest and kubebuilder use them
 *
 * A named file that cannot be run is an error. A folder is only searched: KUBEBUILDER_ASSETS is often set for another project, so if
 * the caller asked for a version, a binary of another version is ignored.
 */
export async function findInEnvironment(binary: Binary, search: Search): Promise<Outcome> {
  const variable = variableOf(binary.name);
  const path = search.env[variable];
  if (!path) return findInAssets(binary, search);
  if (!(await isExecutableFile(path))) throw new NotExecutableError(variable, path);
  return { path: resolve(path) };
}

async function findInAssets(binary: Binary, search: Search): Promise<Outcome> {
  const folder = search.env.KUBEBUILDER_ASSETS;
  if (!folder) return { whyNot: `neither ${variableOf(binary.name)} nor KUBEBUILDER_ASSETS is set` };
  const path = resolve(join(folder, binary.name));
  if (!(await isExecutableFile(path))) return { whyNot: `KUBEBUILDER_ASSETS has no ${binary.name}: ${path} cannot be run` };
  if (binary.project !== "kubernetes" || !search.versionRequested) return { path };
  const minor = await minorVersionOf(path, binary.name, search);
  if (minor === search.kubernetes.minor) return { path };
  const whyNot = `${path} expected Kubernetes ${search.kubernetes.minor}, found ${minor ?? "an unknown version"}`;
  search.progress.say(`KUBEBUILDER_ASSETS is ignored: ${whyNot}. To use it anyway, set ${variableOf(binary.name)}=${path}`);
  return { whyNot: `KUBEBUILDER_ASSETS: ${whyNot}` };
}

/** "1.37", as the binary reports it. */
async function minorVersionOf(path: string, name: BinaryName, { env, signal }: Search): Promise<string | undefined> {
  const args = name === "kubectl" ? ["version", "--client"] : ["--version"];
  try {
    return /v(\d+\.\d+)\./.exec(await run(path, args, { env, signal }))?.[1];
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
