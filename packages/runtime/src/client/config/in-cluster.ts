// The service account of a pod: what the kubelet puts into every container.
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../errors.ts";
import type { ConnectionConfig } from "./config.ts";

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Where token, ca.crt and namespace are. @default where the kubelet mounts them */
  readonly folder?: string | undefined;
}

/** Are we in a pod that may speak to the API server? */
export async function isInCluster({ env, folder = serviceAccount }: InClusterOptions): Promise<boolean> {
  if (!env.KUBERNETES_SERVICE_HOST || !env.KUBERNETES_SERVICE_PORT) return false;
  return access(join(folder, "token")).then(
    () => true,
    () => false,
  );
}

/** @throws ConfigError outside of a pod */
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
