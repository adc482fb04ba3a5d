import { existsSync } from "node:fs";
import { FileMissingError, NoNodeError, NoSuchClusterError } from "../errors.ts";
import { loadImage } from "../images/load.ts";
import { openSandbox } from "../node/sandbox.ts";
import { progressOn } from "../progress.ts";
import { clusterDirectory, listClusterDirectories, stateRoot } from "../state/directory.ts";
import { UsageError } from "./arguments.ts";
import type { Command } from "./command.ts";
import { say } from "./terminal.ts";
import { defaultName } from "./up.ts";

export const load: Command = {
  summary: "load an image into a cluster's node",
  help: (me) => `Usage: ${me} load IMAGE.tar [NAME]

Loads an image into the node of a cluster that runs, and prints the names it has there. Pods use it with imagePullPolicy: Never
(or IfNotPresent); there is no registry.

  IMAGE.tar   an OCI layout, or the output of \`docker save\`
  NAME        which cluster (default: ${defaultName}); it was started with --nodes real`,
  flags: {},
  positionals: 2,
  run: async ({ positionals: [tar, name = defaultName] }, terminal) => {
    if (tar === undefined) throw new UsageError("expected the path of an image");
    if (!existsSync(tar)) throw new FileMissingError(tar);
    const root = stateRoot(terminal.env);
    const directory = clusterDirectory(name, root);
    const known = (await listClusterDirectories(root)).map((each) => each.name);
    if (!known.includes(name)) throw new NoSuchClusterError(name, known);
    const sandbox = await openSandbox(directory);
    if (sandbox === undefined) throw new NoNodeError(name, "loading an image");
    const names = await progressOn(terminal.err).during(`loading ${tar}`, () => loadImage({ directory, sandbox }, tar));
    say(terminal, ...names);
    return 0;
  },
};
