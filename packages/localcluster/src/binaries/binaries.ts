// Finds the binaries of a Kubernetes, and makes the ones that are missing.
//
//     const { etcd, "kube-apiserver": apiServer } = await findBinaries(["etcd", "kube-apiserver"], { kubernetes: "1.37" });
//
// Four places are tried in turn, from the cheapest to the dearest:
//
//   1. what the environment names      named.ts     LOCALCLUSTER_ETCD=…, KUBEBUILDER_ASSETS=…
//   2. the cache                       cache.ts     made by an earlier run
//   3. the official release            release.ts   a download, held against its published checksum
//   4. a build from source             go-build.ts  by the Go on this machine, from the Go module proxy
//
// Only what is asked for is made: a test that needs an API server does not wait for a kubelet. Two processes that want the
// same binary make it once: the second waits (lock.ts) and then finds it in the cache. A process that is killed half-way
// leaves nothing that anybody would take for a binary (cache.ts). When no place has it, one error says what was tried, why
// each failed, and what can be done.
import { type Attempt, LocalClusterError, NoBinariesError } from "../errors.ts";
import { type Binary, type BinaryName, binaryOf, describe } from "./binary.ts";
import { enterWorkshop, findCached } from "./cache.ts";
import { build } from "./go-build.ts";
import { findNamed } from "./named.ts";
import { downloadRelease } from "./release.ts";
import { remediesFor } from "./remedies.ts";
import { prepareSearch, type Search, type SearchOptions } from "./search.ts";

export type { BinaryName } from "./binary.ts";
export type { SearchOptions } from "./search.ts";

/**
 * Absolute paths of exactly the binaries asked for; makes what is missing.
 *
 * @throws {UnknownVersionError} for a Kubernetes that is not in the table of versions.ts
 * @throws {NotExecutableError} where the environment names a file that cannot be run
 * @throws {NoBinariesError} where a binary is nowhere and cannot be made
 */
export async function findBinaries<Name extends BinaryName>(
  names: readonly Name[],
  options: SearchOptions = {},
): Promise<Record<Name, string>> {
  const search = prepareSearch(options);
  const looks = await Promise.all(names.map((name) => lookFor(binaryOf(name, search.kubernetes), search)));
  const paths: Partial<Record<BinaryName, string>> = {};
  // One after the other: a build keeps every core busy by itself.
  for (const { binary, path, tried } of looks) paths[binary.name] = path ?? (await makeMissing(binary, tried, search));
  return paths as Record<Name, string>;
}

/** Where a binary is already; undefined if it would have to be made. */
export async function findMade(name: BinaryName, options: SearchOptions = {}): Promise<string | undefined> {
  const search = prepareSearch(options);
  return (await lookFor(binaryOf(name, search.kubernetes), search)).path;
}

const places = [
  { way: "the environment", look: findNamed },
  { way: "the cache", look: findCached },
];

const makers = [
  { way: "the release", make: downloadRelease }, // first: faster by minutes, and what everybody else runs
  { way: "go build", make: build },
];

interface Look {
  readonly binary: Binary;
  readonly path?: string;
  readonly tried: readonly Attempt[];
}

/** Looks where a binary may be already. */
async function lookFor(binary: Binary, search: Search): Promise<Look> {
  const tried: Attempt[] = [];
  for (const { way, look } of places) {
    const outcome = await look(binary, search);
    if ("path" in outcome) return { binary, path: outcome.path, tried };
    tried.push({ way, outcome: outcome.whyNot });
  }
  return { binary, tried };
}

/** Makes a binary that is nowhere yet, in the first way that works. */
async function makeMissing(binary: Binary, lookedIn: readonly Attempt[], search: Search): Promise<string> {
  await using workshop = await enterWorkshop(binary, search);
  const made = await findCached(binary, search); // by whoever was in the workshop before us
  if ("path" in made) return made.path;
  const tried = [...lookedIn];
  for (const { way, make } of makers) {
    try {
      return await workshop.keep(await make(binary, await workshop.folder(), search));
    } catch (error) {
      if (!(error instanceof LocalClusterError)) throw error;
      tried.push({ way, outcome: error.message });
      search.progress.say(`${describe(binary)}: not from ${way}: ${error.message}`);
    }
  }
  throw new NoBinariesError(describe(binary), tried, remediesFor(binary, search));
}
