import { remove, removeAll } from "../state/claim.ts";
import { clusterDirectory, stateRoot } from "../state/directory.ts";
import { UsageError } from "./arguments.ts";
import type { Command } from "./command.ts";
import { say } from "./terminal.ts";
import { defaultName } from "./up.ts";

export const down: Command = {
  summary: "end a cluster and remove every trace of it",
  help: (me) => `Usage: ${me} down [NAME] [--all]

Ends a cluster, whoever started it, and removes every trace: processes, files, and what a real node made (namespaces, cgroups).

  NAME     which one (default: ${defaultName}); \`${me} status\` lists them
  --all    all of them, also what is left of clusters whose owner was killed`,
  flags: { all: { type: "boolean" } },
  positionals: 1,
  run: async ({ positionals: [name], values }, terminal) => {
    const root = stateRoot(terminal.env);
    if (values.all !== true) {
      await remove(clusterDirectory(name ?? defaultName, root), root);
      say(terminal, `${name ?? defaultName} is gone`);
      return 0;
    }
    if (name !== undefined) throw new UsageError(`either a name or --all, not both`);
    const removed = await removeAll(root);
    say(terminal, removed.length === 0 ? "there was nothing to take down" : `gone: ${removed.join(", ")}`);
    return 0;
  },
};
