// The first place to look: what the environment names. Whoever set these variables knows better than we do.
//
//     LOCALCLUSTER_KUBE_APISERVER=/path/to/kube-apiserver     this file, whatever it is
//     KUBEBUILDER_ASSETS=/path/to/folder                      what the folder has, as envtest and kubebuilder use it
//
// A file that is named and cannot be run is an error. A folder is only a place to look: KUBEBUILDER_ASSETS is often set for
// another project, so what it has counts only if it is of the Kubernetes that was asked for, where one was asked for.
import { join, resolve } from "node:path";
import { NotExecutableError } from "../errors.ts";
import type { Binary, BinaryName } from "./binary.ts";
import { isExecutableFile, run } from "./command.ts";
import type { Outcome, Search } from "./search.ts";

/** The variable that names this binary: LOCALCLUSTER_KUBE_APISERVER. */
export function variableOf(name: BinaryName): string {
  return `LOCALCLUSTER_${name.toUpperCase().replaceAll("-", "_")}`;
}

export async function findNamed(binary: Binary, search: Search): Promise<Outcome> {
  const variable = variableOf(binary.name);
  const path = search.env[variable];
  if (!path) return findInAssets(binary, search);
  if (!(await isExecutableFile(path))) throw new NotExecutableError(variable, path);
  return { path: resolve(path) };
}

async function findInAssets(binary: Binary, search: Search): Promise<Outcome> {
  const folder = search.env.KUBEBUILDER_ASSETS;
  if (!folder) return { whyNot: `neither ${variableOf(binary.name)} nor KUBEBUILDER_ASSETS is set` };
  const path = resolve(join(folder, binary.name));
  if (!(await isExecutableFile(path))) return { whyNot: `KUBEBUILDER_ASSETS has no ${binary.name}: ${path} cannot be run` };
  if (binary.project !== "kubernetes" || !search.versionMatters) return { path };
  const minor = await minorVersionOf(path, binary.name, search);
  if (minor === search.kubernetes.minor) return { path };
  const whyNot = `${path} is of Kubernetes ${minor ?? "(it does not say)"}; expected ${search.kubernetes.minor}`;
  search.progress.say(
    `KUBEBUILDER_ASSETS passed over: ${whyNot}. ${variableOf(binary.name)}=${path} would take it all the same.`,
  );
  return { whyNot: `KUBEBUILDER_ASSETS: ${whyNot}` };
}

/** "1.37", as the binary itself says. */
async function minorVersionOf(path: string, name: BinaryName, { env, signal }: Search): Promise<string | undefined> {
  const question = name === "kubectl" ? ["version", "--client"] : ["--version"];
  try {
    return /v(\d+\.\d+)\./.exec(await run(path, question, { env, signal }))?.[1];
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
