// The options of a cluster, resolved and validated once, before anything is built, downloaded or started.
import { randomBytes } from "node:crypto";
import type { BinaryName } from "./binaries/binaries.ts";
import type { Controller } from "./control-plane/control-plane.ts";
import { InvalidOptionsError, UnsupportedPlatformError } from "./errors.ts";
import { type Progress, progressOn } from "./progress.ts";
import { resolveSimulated, type SimulatedOptions } from "./simulated.ts";
import { type ClusterDirectory, clusterDirectory, stateRoot } from "./state/directory.ts";
import { type KubernetesVersion, resolveVersion } from "./versions.ts";

export interface StartOptions {
  /** "1.37", "v1.37" or "1.37.1". @default what LOCALCLUSTER_KUBERNETES says, else the newest supported version */
  readonly kubernetes?: string;
  /** Lowercase letters, digits, dashes. Unique on this machine for this user. @default a random name */
  readonly name?: string;
  /**
   * A real node runs containers in a sandbox of Linux namespaces and needs root. Simulated nodes run nothing; their pods look as if
   * they ran. @default "none": the API server stores objects, and no containers run
   */
  readonly nodes?: "none" | "real" | { readonly simulated: number };
  /** Simulates the control plane, too: one process, no root, no downloads. @default false */
  readonly simulated?: boolean;
  /** What runs in addition to etcd and the API server. @default the controller manager and, with nodes, the scheduler */
  readonly controllers?: readonly Controller[];
  /** A Prometheus that scrapes the nodes. The interval is a Prometheus duration. @default false; interval "5s" */
  readonly prometheus?: boolean | { readonly scrapeInterval?: string };
  /** One line of JSON per request to the API server, in the file `cluster.auditLog`. @default false */
  readonly audit?: boolean;
  /** Admission plugins to enable in addition to the default ones, such as "OwnerReferencesPermissionEnforcement". @default none */
  readonly admissionPlugins?: readonly string[];
  /** Of the API server, at 127.0.0.1. @default a free port */
  readonly port?: number;
  /** Aborts the start and removes what was started. */
  readonly signal?: AbortSignal;
  /** Reports steps that take longer than two seconds. @default lines on stderr */
  readonly progress?: Progress;
  /** For LOCALCLUSTER_HOME, LOCALCLUSTER_CACHE and other variables. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

/** The options with defaults applied. */
export interface ResolvedOptions {
  readonly root: string;
  readonly directory: ClusterDirectory;
  readonly kubernetes: KubernetesVersion;
  /** As the user named it. Without one, any version in KUBEBUILDER_ASSETS is used. */
  readonly requestedVersion: string | undefined;
  readonly nodes: "none" | "real";
  readonly simulated: SimulatedOptions | undefined;
  readonly controllers: readonly Controller[];
  readonly binaries: readonly BinaryName[];
  readonly scrapeInterval: string | undefined;
  readonly audit: boolean;
  readonly admissionPlugins: readonly string[];
  readonly port: number | undefined;
  readonly progress: Progress;
  readonly env: NodeJS.ProcessEnv;
}

export function resolveOptions(options: StartOptions): ResolvedOptions {
  if (process.platform !== "linux") throw new UnsupportedPlatformError(process.platform);
  const { audit = false, admissionPlugins = [], env = process.env, port } = options;
  const simulated = resolveSimulated(options, env);
  const nodes = realNodesOf(options);
  const requestedVersion = options.kubernetes ?? (env.LOCALCLUSTER_KUBERNETES || undefined);
  const controllers = options.controllers ?? defaultControllers(nodes, simulated);
  const root = stateRoot(env);
  return {
    root,
    directory: clusterDirectory(options.name ?? `t-${randomBytes(4).toString("hex")}`, root),
    kubernetes: resolveVersion(requestedVersion),
    requestedVersion,
    nodes,
    simulated,
    controllers,
    binaries: simulated?.controlPlane
      ? []
      : ["etcd", "kube-apiserver", ...controllers, ...(nodes === "real" ? nodeBinaries : [])],
    scrapeInterval: scrapeIntervalOf(options, nodes === "real" || (simulated?.nodes ?? 0) > 0),
    audit,
    admissionPlugins,
    port,
    progress: options.progress ?? progressOn(),
    env,
  };
}

const nodeBinaries: readonly BinaryName[] = ["kubelet", "kube-proxy"];

function realNodesOf({ nodes = "none" }: StartOptions): "none" | "real" {
  if (typeof nodes === "object") return "none";
  if (nodes !== "none" && nodes !== "real") throw new InvalidOptionsError("nodes", `"none" or "real"`, nodes);
  return nodes;
}

function defaultControllers(nodes: "none" | "real", simulated: SimulatedOptions | undefined): readonly Controller[] {
  const hasNodes = nodes === "real" || simulated !== undefined;
  return hasNodes ? ["kube-controller-manager", "kube-scheduler"] : ["kube-controller-manager"];
}

function scrapeIntervalOf({ prometheus = false }: StartOptions, hasNodes: boolean): string | undefined {
  if (prometheus === false) return undefined;
  if (!hasNodes) throw new InvalidOptionsError("prometheus", `nodes to scrape: nodes: "real" (--nodes real)`, "none");
  const interval = (prometheus === true ? undefined : prometheus.scrapeInterval) ?? "5s";
  if (!/^([1-9][0-9]*(ms|s|m|h))+$/.test(interval))
    throw new InvalidOptionsError("prometheus", "a duration such as 5s or 1m30s", interval);
  return interval;
}
