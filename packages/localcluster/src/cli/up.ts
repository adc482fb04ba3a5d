import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Cluster } from "../cluster.ts";
import { FileExistsError } from "../errors.ts";
import type { StartOptions } from "../options.ts";
import { progressOn } from "../progress.ts";
import { startCluster } from "../start.ts";
import { defaultVersion, supportedVersions } from "../versions.ts";
import { choice, type Parsed, text, UsageError, withDefault } from "./arguments.ts";
import type { Command } from "./command.ts";
import { ownName, paint, say, type Terminal } from "./terminal.ts";

/** What `up` and `down` mean when no name is given. */
export const defaultName = "default";

const versions = supportedVersions.map(({ minor }) => minor).join(", ");

export const up: Command = {
  summary: "start a cluster, and leave it running",
  help: (me) => `Usage: ${me} up [flags]

Starts a real Kubernetes on this machine, waits until it is ready, and leaves it running. The first time, what is missing is
downloaded or built, which takes minutes; after that a cluster is ready in seconds. A simulated one needs nothing of that.

Flags:
  --name NAME            what to call it; several may run side by side (default: ${defaultName})
  --kubernetes VERSION   one of ${versions} (default: LOCALCLUSTER_KUBERNETES, else ${defaultVersion})
  --nodes none|real      none: an API server that takes objects, but runs no containers, and needs no rights
                         real: a node that runs containers; as root (default: none)
  --nodes simulated=N    N nodes that run nothing, and show pods that look as if they ran
  --simulated            a whole cluster in one process, with one simulated node or as --nodes says
  --prometheus[=EVERY]   a Prometheus that scrapes the nodes so often (default: 5s); a real one where nodes are real
  --audit                write a line per request to an audit log
  --port PORT            of the API server, at 127.0.0.1 (default: a free one)
  --kubeconfig FILE      write the kubeconfig to this file too; \`down\` removes it
  --output json          print what there is to know as JSON

Examples:
  ${me} up
  ${me} up --name old --kubernetes 1.32
  ${me} up --simulated --nodes simulated=3
  sudo ${me} up --nodes real --prometheus`,
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
      // A simulated cluster is for machines with nothing on them: nobody waits there for a kubectl to be built.
      const kubectl = parsed.values.simulated ? await cluster.findKubectl() : await cluster.kubectlPath();
      if (copy !== undefined) await writeFile(copy, await readFile(cluster.kubeconfig), { mode: 0o600 });
      await cluster.detach(copy === undefined ? {} : { kubeconfigCopy: copy });
      if (output === "json") say(terminal, JSON.stringify(facts(cluster, kubectl, copy), undefined, 2));
      else say(terminal, ...instructions(cluster, kubectl, copy, terminal));
      return 0;
    } catch (error) {
      await cluster.down();
      throw error;
    }
  },
};

/** Absolute, and not yet there: somebody's own kubeconfig is not ours to replace. */
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
  if (!/^\d{1,5}$/.test(word)) throw new UsageError(`--port: expected a number from 1 to 65535, found ${JSON.stringify(word)}`);
  return Number(word);
}

/** For scripts. */
function facts(cluster: Cluster, kubectl: string | undefined, copy: string | undefined): object {
  const { name, version, server, logs, prometheus, auditLog } = cluster;
  return { name, kubernetes: version, server, kubeconfig: copy ?? cluster.kubeconfig, kubectl, logs, prometheus, auditLog };
}

/** For people: words to copy, that work as they are. */
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
    `take it down ${ownName(terminal)} down${name}`,
  ];
}
