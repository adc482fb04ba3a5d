// The command `up`.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Cluster } from "../cluster.ts";
import { FileExistsError } from "../errors.ts";
import type { StartOptions } from "../options.ts";
import { progressOn } from "../progress.ts";
import { startCluster } from "../start.ts";
import { defaultVersion, supportedVersions } from "../versions.ts";
import {
  type Command,
  choice,
  type Parsed,
  paint,
  print,
  programName,
  type Terminal,
  text,
  UsageError,
  withDefault,
} from "./command.ts";

/** The name of a cluster if none is given. */
export const defaultName = "default";

const versions = supportedVersions.map(({ minor }) => minor).join(", ");

export const up: Command = {
  summary: "start a cluster and leave it running",
  help: (program) => `Usage: ${program} up [flags]

Starts a real Kubernetes on this machine, waits until it is ready, and leaves it running. The first start downloads or builds the
binaries, which takes minutes; later starts take seconds. A simulated cluster needs no binaries.

Flags:
  --name NAME               the name of the cluster; several can run side by side (default: ${defaultName})
  --kubernetes VERSION      one of ${versions} (default: $LOCALCLUSTER_KUBERNETES, else ${defaultVersion})
  --nodes none|real         none: a control plane that runs no containers and needs no root (default)
                            real: a node that runs containers; needs root
  --nodes simulated=N       N simulated nodes: they run no containers, and their pods look as if they ran
  --simulated               simulate the control plane, too; with one simulated node unless --nodes is given
  --prometheus[=INTERVAL]   a Prometheus that scrapes the nodes at this interval (default: 5s)
  --audit                   write an audit log
  --port PORT               the port of the API server at 127.0.0.1 (default: a free port)
  --kubeconfig FILE         also write the kubeconfig to FILE; \`down\` removes it
  --output json             print the details as JSON

Examples:
  ${program} up
  ${program} up --name old --kubernetes 1.32
  ${program} up --simulated --nodes simulated=3
  sudo ${program} up --nodes real --prometheus`,
  flags: {
    name: { type: "string" },
    kubernetes: { type: "string" },
    nodes: { type: "string" },
    simulated: { type: "boolean" },
    prometheus: { type: "string" },
    audit: { type: "boolean" },
    port: { type: "string" },
    kubeconfig: { type: "string" },
    output: { type: "string" },
  },
  positionals: 0,
  prepare: (argv) => withDefault(argv, "--prometheus", "5s"),
  run: async (parsed, terminal) => {
    const output = choice(parsed, "output", ["json"]);
    const copy = copyTo(text(parsed, "kubeconfig"));
    const cluster = await startCluster(optionsOf(parsed, terminal));
    try {
      // A simulated cluster needs no binaries, so kubectl is not downloaded or built for it.
      const kubectl = parsed.values.simulated ? await cluster.findKubectl() : await cluster.kubectlPath();
      if (copy !== undefined) await writeFile(copy, await readFile(cluster.kubeconfig), { mode: 0o600 });
      await cluster.detach(copy === undefined ? {} : { kubeconfigCopy: copy });
      if (output === "json") print(terminal, JSON.stringify(toJson(cluster, kubectl, copy), undefined, 2));
      else print(terminal, ...instructions(cluster, kubectl, copy, terminal));
      return 0;
    } catch (error) {
      await cluster.down();
      throw error;
    }
  },
};

/** An existing kubeconfig is not overwritten. */
function copyTo(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const path = resolve(file);
  if (existsSync(path)) throw new FileExistsError(path);
  return path;
}

function optionsOf(parsed: Parsed, { err, env }: Terminal): StartOptions {
  const [kubernetes, nodes, interval, port] = [
    text(parsed, "kubernetes"),
    nodesOf(parsed),
    text(parsed, "prometheus"),
    portOf(text(parsed, "port")),
  ];
  return {
    name: text(parsed, "name") ?? defaultName,
    audit: parsed.values.audit === true,
    simulated: parsed.values.simulated === true,
    progress: progressOn(err),
    env,
    ...(kubernetes !== undefined && { kubernetes }),
    ...(nodes !== undefined && { nodes }),
    ...(interval !== undefined && { prometheus: { scrapeInterval: interval } }),
    ...(port !== undefined && { port }),
  };
}

/** "none", "real" or "simulated=20". */
function nodesOf(parsed: Parsed): StartOptions["nodes"] {
  const [, count] = /^simulated=(\d{1,6})$/.exec(text(parsed, "nodes") ?? "") ?? [];
  if (count !== undefined) return { simulated: Number(count) };
  const word = choice(parsed, "nodes", ["none", "real", "simulated=N"]);
  if (word === "simulated=N") throw new UsageError("--nodes: expected a number in place of N, such as simulated=20");
  return word;
}

function portOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (!/^\d{1,5}$/.test(word) || Number(word) < 1 || Number(word) > 65_535)
    throw new UsageError(`--port: expected a number from 1 to 65535, found ${JSON.stringify(word)}`);
  return Number(word);
}

function toJson(cluster: Cluster, kubectl: string | undefined, copy: string | undefined): object {
  const { name, version, server, logs, prometheus, auditLog } = cluster;
  return { name, kubernetes: version, server, kubeconfig: copy ?? cluster.kubeconfig, kubectl, logs, prometheus, auditLog };
}

/** Commands to copy. */
function instructions(
  cluster: Cluster,
  kubectl: string | undefined,
  copy: string | undefined,
  terminal: Terminal,
): readonly string[] {
  const name = cluster.name === defaultName ? "" : ` ${cluster.name}`;
  return [
    paint("bold", `Kubernetes ${cluster.version} is ready: cluster ${cluster.name} at ${cluster.server}`, terminal),
    "",
    `  export KUBECONFIG=${copy ?? cluster.kubeconfig}`,
    ...(kubectl === undefined ? [] : [`  alias kubectl=${kubectl}`]),
    "  kubectl get namespaces",
    "",
    ...(cluster.prometheus ? [`Prometheus   ${cluster.prometheus}`] : []),
    ...(cluster.auditLog ? [`audit log    ${cluster.auditLog}`] : []),
    `logs         ${cluster.logs}`,
    `remove it    ${programName(terminal)} down${name}`,
  ];
}
