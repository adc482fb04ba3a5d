// What a cluster is to be, resolved and checked once: before anything is built, downloaded or started.
import { randomBytes } from "node:crypto";
import type { BinaryName } from "./binaries/binaries.ts";
import type { Controller } from "./control-plane/control-plane.ts";
import { InvalidOptionsError, UnsupportedPlatformError } from "./errors.ts";
import { type Progress, progressOn } from "./progress.ts";
import { type SimulatedPlan, simulatedPlanOf } from "./simulated.ts";
import { type ClusterDirectory, clusterDirectory, stateRoot } from "./state/directory.ts";
import { type KubernetesVersion, resolveVersion } from "./versions.ts";

export interface StartOptions {
  /** "1.37", "v1.37" or "1.37.1". @default what LOCALCLUSTER_KUBERNETES says, else the newest supported version */
  readonly kubernetes?: string;
  /** Lower-case letters, digits, dashes. Only one cluster of a name can be. @default one that is not taken */
  readonly name?: string;
  /**
   * A real node runs real containers, as root, in a sandbox of Linux namespaces. Simulated ones run nothing, and show pods that
   * look as if they ran. @default "none": objects, but no containers
   */
  readonly nodes?: "none" | "real" | { readonly simulated: number };
  /** The whole cluster is simulated: one process, no rights, nothing to download. @default false */
  readonly simulated?: boolean;
  /** What runs beside etcd and the API server. @default the controller manager, and the scheduler where there are nodes */
  readonly controllers?: readonly Controller[];
  /** A Prometheus that scrapes the nodes: a real one those that are real. The interval is a Prometheus duration. @default false, "5s" */
  readonly prometheus?: boolean | { readonly scrapeInterval?: string };
  /** One line of JSON per request to the API server, in the file `cluster.auditLog`. @default false */
  readonly audit?: boolean;
  /** Plugins of the API server beside those it has anyway: "OwnerReferencesPermissionEnforcement", as OpenShift does. @default none */
  readonly admissionPlugins?: readonly string[];
  /** Of the API server, at 127.0.0.1. @default a free one */
  readonly port?: number;
  /** Gives up the start and leaves nothing behind. */
  readonly signal?: AbortSignal;
  /** Who hears of what takes longer than two seconds. @default lines on stderr */
  readonly progress?: Progress;
  /** Where LOCALCLUSTER_HOME, LOCALCLUSTER_CACHE and the like come from. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

/** The options with every question answered. */
export interface Plan {
  readonly root: string;
  readonly directory: ClusterDirectory;
  readonly kubernetes: KubernetesVersion;
  /** As somebody named it: whoever names none takes what KUBEBUILDER_ASSETS has. */
  readonly askedFor: string | undefined;
  readonly nodes: "none" | "real";
  readonly simulated: SimulatedPlan | undefined;
  readonly controllers: readonly Controller[];
  readonly binaries: readonly BinaryName[];
  readonly scrapeInterval: string | undefined;
  readonly audit: boolean;
  readonly admissionPlugins: readonly string[];
  readonly port: number | undefined;
  readonly progress: Progress;
  readonly env: NodeJS.ProcessEnv;
}

export function planOf(options: StartOptions): Plan {
  if (process.platform !== "linux") throw new UnsupportedPlatformError(process.platform);
  const { audit = false, admissionPlugins = [], env = process.env, port } = options;
  const simulated = simulatedPlanOf(options, env);
  const nodes = realNodesOf(options);
  const askedFor = options.kubernetes ?? (env.LOCALCLUSTER_KUBERNETES || undefined);
  const controllers = options.controllers ?? defaultControllers(nodes, simulated);
  const root = stateRoot(env);
  return {
    root,
    directory: clusterDirectory(options.name ?? `t-${randomBytes(4).toString("hex")}`, root),
    kubernetes: resolveVersion(askedFor),
    askedFor,
    nodes,
    simulated,
    controllers,
    binaries: simulated?.whole ? [] : ["etcd", "kube-apiserver", ...controllers, ...(nodes === "real" ? nodeBinaries : [])],
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

function defaultControllers(nodes: "none" | "real", simulated: SimulatedPlan | undefined): readonly Controller[] {
  const anywhere = nodes === "real" || simulated !== undefined;
  return anywhere ? ["kube-controller-manager", "kube-scheduler"] : ["kube-controller-manager"];
}

function scrapeIntervalOf({ prometheus = false }: StartOptions, hasNodes: boolean): string | undefined {
  if (prometheus === false) return undefined;
  if (!hasNodes)
    throw new InvalidOptionsError("prometheus", `nodes: "real" (--nodes real), for there is nothing to scrape otherwise`, "none");
  const interval = (prometheus === true ? undefined : prometheus.scrapeInterval) ?? "5s";
  if (!/^([1-9][0-9]*(ms|s|m|h))+$/.test(interval))
    throw new InvalidOptionsError("prometheus", "a duration such as 5s or 1m30s", interval);
  return interval;
}
