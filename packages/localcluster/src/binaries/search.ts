// What a search for binaries needs to know, read from the options and the environment once and passed down whole.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { UnsupportedPlatformError } from "../errors.ts";
import { type Progress, progressOn } from "../progress.ts";
import { type KubernetesVersion, resolveVersion } from "../versions.ts";
import { Downloads } from "./downloads.ts";

export interface SearchOptions {
  /** "1.37", "v1.37" or "1.37.1". @default the newest supported version */
  readonly kubernetes?: string | undefined;
  /** Stops downloads, builds and waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Where LOCALCLUSTER_*, KUBEBUILDER_ASSETS, PATH, HOME and Go's own variables come from. @default process.env */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** @default lines on stderr */
  readonly progress?: Progress | undefined;
}

export interface Search {
  readonly kubernetes: KubernetesVersion;
  /** Whether the caller named that version, or takes any. */
  readonly versionMatters: boolean;
  readonly architecture: "amd64" | "arm64";
  /** The folder that keeps what was made. */
  readonly cache: string;
  /** LOCALCLUSTER_RELEASE_URL: one place that mirrors the releases of Kubernetes and of etcd, instead of their own sites. */
  readonly mirror: string | undefined;
  /** LOCALCLUSTER_GO: the Go command. */
  readonly go: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  readonly progress: Progress;
  readonly downloads: Downloads;
}

/** What looking in one place came to. Not finding a binary is an outcome, not an error: there are more places. */
export type Outcome = { readonly path: string } | { readonly whyNot: string };

export function prepareSearch(options: SearchOptions, machine: Machine = process): Search {
  const env = options.env ?? process.env;
  return {
    kubernetes: resolveVersion(options.kubernetes),
    versionMatters: options.kubernetes !== undefined,
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

/** Where this user keeps what can be made again. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  if (env.LOCALCLUSTER_CACHE) return resolve(env.LOCALCLUSTER_CACHE);
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "localcluster");
}

interface Machine {
  readonly platform: string;
  readonly arch: string;
}

/** Releases go by Go's names of the architectures, not Node's. */
function architectureOf({ platform, arch }: Machine): "amd64" | "arm64" {
  if (platform === "linux" && arch === "x64") return "amd64";
  if (platform === "linux" && arch === "arm64") return "arm64";
  throw new UnsupportedPlatformError(`${platform} on ${arch}`);
}
