import { stateRoot } from "../state/directory.ts";
import { type ClusterStatus, type State, statusOfAll } from "../state/status.ts";
import { choice } from "./arguments.ts";
import type { Command } from "./command.ts";
import { ownName, paint, say, type Terminal } from "./terminal.ts";

export const status: Command = {
  summary: "list the clusters of this user and how they are",
  help: (me) => `Usage: ${me} status [--output json]

Lists the clusters of this user, one a line: running, starting, broken (something of it has ended, and is named), failed (only
its logs are left) or abandoned (its owner was killed; the next start or \`${me} down --all\` removes it).`,
  flags: { output: { type: "string" } },
  positionals: 0,
  run: async (parsed, terminal) => {
    const output = choice(parsed, "output", ["json"]);
    const clusters = await statusOfAll(stateRoot(terminal.env));
    if (output === "json") say(terminal, JSON.stringify(clusters.map(facts), undefined, 2));
    else if (clusters.length === 0) say(terminal, `no clusters; ${ownName(terminal)} up starts one`);
    else say(terminal, ...table(clusters, terminal));
    return 0;
  },
};

function facts({ name, state, missing, directory, record }: ClusterStatus): object {
  const { kubernetes, nodes, simulated, server, prometheus, auditLog, owner, createdAt } = record ?? {};
  const { kubeconfig, logs } = directory;
  return { name, state, missing, kubernetes, nodes, simulated, server, prometheus, auditLog, kubeconfig, logs, owner, createdAt };
}

const colours: Readonly<Record<State, "green" | "yellow" | "red" | "dim">> = {
  running: "green",
  starting: "yellow",
  broken: "red",
  failed: "red",
  abandoned: "dim",
};

function table(clusters: readonly ClusterStatus[], terminal: Terminal): readonly string[] {
  const head = ["NAME", "STATE", "KUBERNETES", "NODES", "SERVER", "OWNER"];
  const rows = clusters.map((cluster) => cells(cluster));
  const widths = head.map((title, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? title).length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  const coloured = clusters.map(({ state }, index) => {
    const [name = "", word = "", ...rest] = line(rows[index] ?? []);
    return [name, paint(colours[state], word, terminal), ...rest];
  });
  return [line(head), ...coloured].map((row) => row.join("  ").trimEnd());
}

function cells({ name, state, missing, record }: ClusterStatus): readonly string[] {
  const owner = record === undefined ? "" : record.owner === "detached" ? "nobody (up)" : `process ${record.owner.pid}`;
  const why = state === "broken" ? ` (no ${missing.join(", ")})` : "";
  const version = record?.simulated?.whole ? `${record.kubernetes} (simulated)` : (record?.kubernetes ?? "");
  const nodes = record?.simulated === undefined ? (record?.nodes ?? "") : `simulated=${record.simulated.nodes}`;
  return [name, state + why, version, nodes, record?.server ?? "", owner];
}
