// The `exec` section of a kubeconfig user, checked.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "../errors.ts";
import type { ClusterInfo, ExecConfig } from "./config.ts";
import type { ClusterEntry, ExecEntry, Located } from "./kubeconfig-file.ts";

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
    // With a slash it is a path, seen from the file; without one it is looked up in PATH.
    command: command.includes("/") ? resolve(folder, command) : command,
    args: exec.args ?? [],
    env: Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    interactiveMode: modeOf(exec, origin),
    clusterInfo: exec.provideClusterInfo ? clusterInfoOf(cluster, origin) : undefined,
    installHint: exec.installHint,
  };
}

function modeOf({ apiVersion, interactiveMode }: ExecEntry, origin: string): ExecConfig["interactiveMode"] {
  // v1 made it mandatory; before, the default was this.
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
