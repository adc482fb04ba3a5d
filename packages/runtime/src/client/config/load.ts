// Finds the connection configuration. Uses the first that exists, in the order of controller-runtime:
//
//     1. the given file
//     2. the files of $KUBECONFIG, merged
//     3. the service account of the pod
//     4. ~/.kube/config

import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ConfigError } from "../errors.ts";
import { type ConnectionConfig, proxyFromEnvironment } from "./config.ts";
import { connectionOf, readKubeconfigs } from "./kubeconfig.ts";

export interface ConfigOptions {
  /** Use only this file; it must exist. */
  readonly kubeconfig?: string | undefined;
  /** The context to use instead of the current one. */
  readonly context?: string | undefined;
  /** @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** @default where the kubelet mounts it */
  readonly serviceAccountFolder?: string | undefined;
}

/** Finds the cluster configuration. @throws ConfigError that lists the searched locations */
export async function loadConfig(options: ConfigOptions = {}): Promise<ConnectionConfig> {
  const { env = process.env, kubeconfig, context, serviceAccountFolder: folder } = options;
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "");
  if (kubeconfig !== undefined) return found(await fromFiles([kubeconfig], context), env);
  if (listed.length > 0) return found(await fromFiles(listed, context), env);
  if (context === undefined && (await isInCluster({ env, folder }))) return found(await inClusterConfig({ env, folder }), env);
  return found(await fromFiles([join(env.HOME || homedir(), ".kube", "config")], context), env);
}

function found(config: ConnectionConfig, env: NodeJS.ProcessEnv): ConnectionConfig {
  return { ...config, proxyUrl: config.proxyUrl ?? proxyFromEnvironment(config.server, env) };
}

async function fromFiles(paths: readonly string[], context: string | undefined): Promise<ConnectionConfig> {
  const kubeconfig = await readKubeconfigs(paths);
  if (kubeconfig.files.length === 0) {
    const remedy = "set KUBECONFIG, or run in a pod with a service account";
    throw new ConfigError(`expected a kubeconfig at ${paths.join(", ")}, found no such file → ${remedy}`);
  }
  return connectionOf(kubeconfig, context);
}

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The folder with token, ca.crt and namespace. @default where the kubelet mounts it */
  readonly folder?: string | undefined;
}

/** Whether this process runs in a pod with a service account token. */
export async function isInCluster({ env, folder = serviceAccount }: InClusterOptions): Promise<boolean> {
  if (!env.KUBERNETES_SERVICE_HOST || !env.KUBERNETES_SERVICE_PORT) return false;
  return access(join(folder, "token")).then(
    () => true,
    () => false,
  );
}

/** The configuration from the service account of the pod. @throws ConfigError outside of a pod */
export async function inClusterConfig({ env, folder = serviceAccount }: InClusterOptions): Promise<ConnectionConfig> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new ConfigError(
      "expected KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, found none → this runs outside of a pod",
    );
  }
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host; // IPv6
  return {
    server: `https://${bracketed}:${port}`,
    namespace: (await readFile(join(folder, "namespace"), "utf8").catch(() => "")).trim() || "default",
    tls: { ca: { file: join(folder, "ca.crt") } },
    user: { tokenFile: join(folder, "token") },
    origin: "the service account of this pod",
  };
}
