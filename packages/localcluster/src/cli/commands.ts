// The commands for existing clusters: down, status, load.
import { existsSync } from "node:fs";
import { ClusterNotFoundError, FileMissingError, NodeRequiredError } from "../errors.ts";
import { loadImage } from "../node/containerd.ts";
import { openSandbox } from "../node/sandbox.ts";
import { progressOn } from "../progress.ts";
import {
  type ClusterStatus,
  clusterDirectory,
  listClusterDirectories,
  type State,
  stateRoot,
  statusOfAll,
} from "../state/directory.ts";
import { removeAllClusters, removeCluster } from "../state/lifecycle.ts";
import { type Command, choice, paint, print, programName, type Terminal, UsageError } from "./command.ts";
import { defaultName } from "./up.ts";

export const down: Command = {
  summary: "remove a cluster",
  help: (program) => `Usage: ${program} down [NAME] [--all]

Stops a cluster and removes its processes and files, and the namespaces and cgroups of a real node.

  NAME     the cluster (default: ${defaultName}); \`${program} status\` lists clusters
  --all    remove every cluster, including what is left of clusters whose owner was killed`,
  flags: { all: { type: "boolean" } },
  positionals: 1,
  run: async ({ positionals: [name], values }, terminal) => {
    const root = stateRoot(terminal.env);
    if (values.all !== true) {
      await removeCluster(clusterDirectory(name ?? defaultName, root), root);
      print(terminal, `removed ${name ?? defaultName}`);
      return 0;
    }
    if (name !== undefined) throw new UsageError("expected either a name or --all, found both");
    const removed = await removeAllClusters(root);
    print(terminal, removed.length === 0 ? "no clusters to remove" : `removed ${removed.join(", ")}`);
    return 0;
  },
};

export const status: Command = {
  summary: "list clusters and their state",
  help: (program) => `Usage: ${program} status [--output json]

Lists your clusters, one per line:

  running     all components run
  starting    the cluster is being started
  broken      a component has exited; its name is shown
  failed      the cluster did not start; its logs are kept until the next start
  abandoned   its owner was killed; the next start or \`${program} down --all\` removes it`,
  flags: { output: { type: "string" } },
  positionals: 0,
  run: async (parsed, terminal) => {
    const output = choice(parsed, "output", ["json"]);
    const clusters = await statusOfAll(stateRoot(terminal.env));
    if (output === "json") print(terminal, JSON.stringify(clusters.map(toJson), undefined, 2));
    else if (clusters.length === 0) print(terminal, `no clusters; start one with: ${programName(terminal)} up`);
    else print(terminal, ...table(clusters, terminal));
    return 0;
  },
};

function toJson({ name, state, missing, directory, record }: ClusterStatus): object {
  const { kubernetes, nodes, simulated, server, prometheus, auditLog, owner, createdAt } = record ?? {};
  const { kubeconfig, logs } = directory;
  return { name, state, missing, kubernetes, nodes, simulated, server, prometheus, auditLog, kubeconfig, logs, owner, createdAt };
}

const colors: Readonly<Record<State, "green" | "yellow" | "red" | "dim">> = {
  running: "green",
  starting: "yellow",
  broken: "red",
  failed: "red",
  abandoned: "dim",
};

function table(clusters: readonly ClusterStatus[], terminal: Terminal): readonly string[] {
  const head = ["NAME", "STATE", "KUBERNETES", "NODES", "SERVER", "OWNER"];
  const rows = clusters.map(cellsOf);
  const widths = head.map((title, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? title).length)));
  const padded = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  const colored = clusters.map(({ state }, index) => {
    const [name = "", word = "", ...rest] = padded(rows[index] ?? []);
    return [name, paint(colors[state], word, terminal), ...rest];
  });
  return [padded(head), ...colored].map((row) => row.join("  ").trimEnd());
}

function cellsOf({ name, state, missing, record }: ClusterStatus): readonly string[] {
  const owner = record === undefined ? "" : record.owner === "detached" ? "none (up)" : `process ${record.owner.pid}`;
  const why = state === "broken" ? ` (no ${missing.join(", ")})` : "";
  const version = record?.simulated?.controlPlane ? `${record.kubernetes} (simulated)` : (record?.kubernetes ?? "");
  const nodes = record?.simulated === undefined ? (record?.nodes ?? "") : `simulated=${record.simulated.nodes}`;
  return [name, state + why, version, nodes, record?.server ?? "", owner];
}

export const load: Command = {
  summary: "load an image into the node of a cluster",
  help: (program) => `Usage: ${program} load IMAGE.tar [NAME]

Loads an image into the real node of a running cluster and prints its names there. There is no registry: pods that use the image
need imagePullPolicy Never or IfNotPresent.

  IMAGE.tar   an OCI layout, or the output of \`docker save\`
  NAME        the cluster (default: ${defaultName}), started with --nodes real`,
  flags: {},
  positionals: 2,
  run: async ({ positionals: [tar, name = defaultName] }, terminal) => {
    if (tar === undefined) throw new UsageError("expected the path of an image");
    if (!existsSync(tar)) throw new FileMissingError(tar);
    const root = stateRoot(terminal.env);
    const directory = clusterDirectory(name, root);
    const known = (await listClusterDirectories(root)).map((each) => each.name);
    if (!known.includes(name)) throw new ClusterNotFoundError(name, known);
    const sandbox = await openSandbox(directory);
    if (sandbox === undefined) throw new NodeRequiredError(name, "loading an image");
    const names = await progressOn(terminal.err).during(`loading ${tar}`, () => loadImage({ directory, sandbox }, tar));
    print(terminal, ...names);
    return 0;
  },
};
