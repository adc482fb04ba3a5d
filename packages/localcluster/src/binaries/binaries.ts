// Finds the binaries of a Kubernetes version, and downloads or builds the missing ones.
//
//     const { etcd, "kube-apiserver": apiServer } = await findBinaries(["etcd", "kube-apiserver"], { kubernetes: "1.37" });
//
// Four sources are tried in this order:
//
//   1. the environment                 search.ts    LOCALCLUSTER_ETCD=…, KUBEBUILDER_ASSETS=…
//   2. the cache                       cache.ts     from an earlier run
//   3. the official release            release.ts   a download, verified by its published checksum
//   4. a build from source             go-build.ts  with the Go of this machine, from the Go module proxy
//
// Only requested binaries are provided: a test that needs an API server does not wait for a kubelet. If two processes need the same
// binary, the second waits and then finds it in the cache. A process that is killed leaves no partial file in the cache. If no source
// provides a binary, one error lists what was tried, why each attempt failed, and what you can do.
import { type Attempt, BinaryUnavailableError, LocalClusterError } from "../errors.ts";
import { findCached, lockWorkFolder } from "./cache.ts";
import { build } from "./go-build.ts";
import { downloadRelease } from "./release.ts";
import {
  type Binary,
  type BinaryName,
  binaryOf,
  describe,
  findInEnvironment,
  prepareSearch,
  type Search,
  type SearchOptions,
  variableOf,
} from "./search.ts";

export type { BinaryName, SearchOptions } from "./search.ts";

/** The paths of some binaries. */
export type BinaryPaths = Readonly<Partial<Record<BinaryName, string>>>;

/**
 * The absolute paths of these binaries; downloads or builds what is missing.
 *
 * @throws {UnknownVersionError} for a version that is not in the table of versions.ts
 * @throws {NotExecutableError} if the environment names a file that cannot be run
 * @throws {BinaryUnavailableError} if no source provides a binary
 */
export async function findBinaries<Name extends BinaryName>(
  names: readonly Name[],
  options: SearchOptions = {},
): Promise<Record<Name, string>> {
  const search = prepareSearch(options);
  const searched = await Promise.all(names.map((name) => findExisting(binaryOf(name, search.kubernetes), search)));
  const paths: Partial<Record<BinaryName, string>> = {};
  // One after the other, because a build uses every core.
  for (const { binary, path, tried } of searched) paths[binary.name] = path ?? (await provide(binary, tried, search));
  return paths as Record<Name, string>;
}

/** The path of a binary; undefined if it would have to be downloaded or built. */
export async function findExistingBinary(name: BinaryName, options: SearchOptions = {}): Promise<string | undefined> {
  const search = prepareSearch(options);
  return (await findExisting(binaryOf(name, search.kubernetes), search)).path;
}

const existing = [
  { source: "the environment", find: findInEnvironment },
  { source: "the cache", find: findCached },
];

const providers = [
  { source: "the release", provide: downloadRelease }, // first, because it is faster by minutes and what most clusters run
  { source: "go build", provide: build },
];

interface Searched {
  readonly binary: Binary;
  readonly path?: string;
  readonly tried: readonly Attempt[];
}

async function findExisting(binary: Binary, search: Search): Promise<Searched> {
  const tried: Attempt[] = [];
  for (const { source, find } of existing) {
    const outcome = await find(binary, search);
    if ("path" in outcome) return { binary, path: outcome.path, tried };
    tried.push({ source, outcome: outcome.whyNot });
  }
  return { binary, tried };
}

/** Uses the first source that works. */
async function provide(binary: Binary, triedBefore: readonly Attempt[], search: Search): Promise<string> {
  await using workFolder = await lockWorkFolder(binary, search);
  const provided = await findCached(binary, search); // by a process that held the lock before us
  if ("path" in provided) return provided.path;
  const tried = [...triedBefore];
  for (const { source, provide } of providers) {
    try {
      return await workFolder.moveToCache(await provide(binary, await workFolder.create(), search));
    } catch (error) {
      if (!(error instanceof LocalClusterError)) throw error;
      tried.push({ source, outcome: error.message });
      search.progress.say(`${describe(binary)} is not available from ${source}: ${error.message}`);
    }
  }
  throw new BinaryUnavailableError(describe(binary), tried, remediesFor(binary, search));
}

const sites = { kubernetes: "https://dl.k8s.io", etcd: "https://github.com", helm: "https://get.helm.sh" } as const;

function remediesFor({ name, project }: Binary, { kubernetes, mirror }: Search): readonly string[] {
  const site = mirror ?? sites[project];
  return [
    `install Go ${kubernetes.go} or newer (https://go.dev/dl) with access to a Go module proxy (GOPROXY),`,
    `or give this machine access to ${site}, or set LOCALCLUSTER_RELEASE_URL to a mirror of the releases,`,
    `or set KUBEBUILDER_ASSETS to a folder that has ${name}, for example one of setup-envtest,`,
    `or set ${variableOf(name)} to the path of a binary.`,
  ];
}
