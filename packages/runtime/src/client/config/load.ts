// Where is the cluster? The first of these that is there, in the order of controller-runtime, so that an operator behaves
// in a pod and on a desk as its users expect:
//
//     1. the file that was asked for
//     2. the files of $KUBECONFIG, merged
//     3. the service account of the pod we run in
//     4. ~/.kube/config
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ConfigError } from "../errors.ts";
import type { ConnectionConfig } from "./config.ts";
import { connectionOf } from "./context.ts";
import { inClusterConfig, isInCluster } from "./in-cluster.ts";
import { readKubeconfigs } from "./kubeconfig-file.ts";
import { proxyFromEnvironment } from "./proxy.ts";

export interface ConfigOptions {
  /** This file and no other; it must exist. */
  readonly kubeconfig?: string | undefined;
  /** A context other than the current one. */
  readonly context?: string | undefined;
  /** @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** @default where the kubelet mounts it */
  readonly serviceAccountFolder?: string | undefined;
}

/** @throws ConfigError that says where it looked */
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
