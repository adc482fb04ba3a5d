// Builds from source with the Go of this machine and modules from the Go module proxy, which many closed networks offer. Go verifies
// downloads against its checksum database.
//
// The first build takes minutes (an API server about 6 minutes on two cores, other binaries less than 2 more each), later builds take
// seconds, because Go caches compiled packages.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GoFailedError, GoMissingError, GoTooOldError } from "../errors.ts";
import { type CommandFailure, run } from "../process/command.ts";
import type { Search } from "./search.ts";
import { type Binary, describe } from "./search.ts";

/** Builds the binary in a folder and returns its path there. */
export async function build(binary: Binary, folder: string, search: Search): Promise<string> {
  const go = await findGo(folder, search);
  const recipe = recipes[binary.project](binary);
  const path = join(folder, binary.name);
  await search.progress.during(`building ${describe(binary)} with Go ${go.version}`, async (detail) => {
    const upstream = await readUpstream(recipe.module, binary.version, go);
    await writeFile(join(folder, "go.mod"), moduleFile(upstream, binary.version));
    if (recipe.main) await writeFile(join(folder, "main.go"), recipe.main);
    // -mod=mod lets Go complete go.mod and write go.sum; -trimpath keeps local paths out of the binary.
    const flags = ["-mod=mod", "-trimpath", "-ldflags", recipe.linkerFlags, "-o", path];
    await go.run(["build", ...flags, recipe.package], countModules(detail));
  });
  return path;
}

interface Recipe {
  readonly module: string;
  readonly package: string;
  readonly linkerFlags: string;
  /** A main program, if the one of the project cannot be built as a dependency. */
  readonly main?: string;
}

const recipes: Readonly<Record<Binary["project"], (binary: Binary) => Recipe>> = {
  kubernetes: kubernetesRecipe,
  etcd: etcdRecipe,
  helm: helmRecipe,
};

/** Without the stamped version, the API server reports v0.0.0 to its clients. */
function kubernetesRecipe({ name, version }: Binary): Recipe {
  const [major, minor] = version.split(".");
  const stamps = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((place) => [
    `-X ${place}.gitVersion=v${version}`,
    `-X ${place}.gitMajor=${major}`,
    `-X ${place}.gitMinor=${minor}`,
  ]);
  return {
    module: "k8s.io/kubernetes",
    package: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: ["-s", "-w", ...stamps].join(" "),
  };
}

/** The main package of etcd is in a module with replacements, and does only this. */
function etcdRecipe(): Recipe {
  return {
    module: "go.etcd.io/etcd/server/v3",
    package: ".",
    linkerFlags: "-s -w",
    main: `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`,
  };
}

/** Without the stamped version, it reports v4.3 without the patch. */
function helmRecipe({ version }: Binary): Recipe {
  const module = "helm.sh/helm/v4";
  return { module, package: `${module}/cmd/helm`, linkerFlags: `-s -w -X ${module}/internal/version.version=v${version}` };
}

/** The go.mod of the project, parsed by Go. */
async function readUpstream(module: string, version: string, go: Go): Promise<UpstreamModule> {
  const { GoMod } = JSON.parse(await go.run(["mod", "download", "-json", `${module}@v${version}`]));
  return JSON.parse(await go.run(["mod", "edit", "-json", GoMod]));
}

/** A first build downloads about a hundred modules before it compiles; the count shows progress. */
function countModules(detail: (text: string) => void): (text: string) => void {
  let modules = 0;
  return (text) => {
    modules += text.match(/^go: downloading /gm)?.length ?? 0;
    if (modules > 0) detail(`${modules} modules downloaded`);
  };
}

/** The parts of a go.mod that are used, as `go mod edit -json` prints them. */
export interface UpstreamModule {
  readonly Module: { readonly Path: string };
  readonly Go: string;
  readonly GoDebug?: readonly { readonly Key: string; readonly Value: string }[] | null;
  readonly Replace?: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[] | null;
}

/**
 * The go.mod of a module that builds this version of another module.
 *
 * `go install k8s.io/kubernetes/cmd/…@v1.37.1` does not work: the go.mod of Kubernetes replaces its libraries by folders of its
 * repository ("staging"), and Go allows replacements in the main module only. So this main module requires Kubernetes and replaces
 * those libraries by their published versions. `go mod tidy` would fail: it also requires modules of tests, some of which are not
 * published.
 */
export function moduleFile(upstream: UpstreamModule, version: string): string {
  const staging = (upstream.Replace ?? []).filter(({ New }) => New.Path.startsWith("./staging/")).map(({ Old }) => Old.Path);
  return [
    "module localcluster/build",
    `go ${upstream.Go}`,
    // They change the behavior of the standard library (ciphers, HTTP limits), so they are taken over.
    ...(upstream.GoDebug ?? []).map(({ Key, Value }) => `godebug ${Key}=${Value}`),
    `require ${upstream.Module.Path} v${version}`,
    ...staging.map((path) => `replace ${path} => ${path} v${libraryVersion(version)}`),
    "",
  ].join("\n");
}

/** Kubernetes 1.37.1 publishes its libraries as 0.37.1. */
function libraryVersion(version: string): string {
  return version.replace(/^1\./, "0.");
}

export interface Go {
  /** "1.26.8" */
  readonly version: string;
  /** Runs `go` with these arguments in the folder and returns its stdout. */
  run(args: readonly string[], onStderr?: (text: string) => void): Promise<string>;
}

/** The Go of this machine, running in a folder; throws if it is missing or too old. */
export async function findGo(folder: string, search: Search): Promise<Go> {
  const options = { cwd: folder, env: environmentIn(folder, search.env), signal: search.signal };
  const wanted = search.kubernetes.go;
  const answer = await run(search.go, ["env", "-json", "GOVERSION", "GOTOOLCHAIN"], options).catch((cause) => {
    search.signal?.throwIfAborted();
    throw new GoMissingError(search.go, wanted, cause);
  });
  const { GOVERSION = "", GOTOOLCHAIN = "local" }: Record<string, string> = JSON.parse(answer);
  if (!isSufficient(GOVERSION, GOTOOLCHAIN, wanted)) throw new GoTooOldError(GOVERSION.replace(/^go/, "") || "(unknown)", wanted);
  return {
    version: GOVERSION.replace(/^go/, ""),
    run: (args, onStderr) =>
      run(search.go, args, { ...options, ...(onStderr && { onStderr }) }).catch((failure) => {
        search.signal?.throwIfAborted();
        throw new GoFailedError(`go ${args.slice(0, 2).join(" ")}`, errorOutput(failure));
      }),
  };
}

/** New enough, or able to download a newer toolchain, as Go does since 1.21. */
export function isSufficient(version: string, toolchain: string, wanted: string): boolean {
  return isAtLeast(version, wanted) || (toolchain !== "local" && isAtLeast(version, "1.21"));
}

function isAtLeast(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = majorMinor(version);
  const [wantedMajor = 0, wantedMinor = 0] = majorMinor(wanted);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** Reads "go1.26.8", "1.26" and "devel go1.27-8e1f2ab". */
function majorMinor(version: string): readonly number[] {
  return /(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
}

/** The settings of the user (GOFLAGS, GOPROXY, …) and two of ours. */
function environmentIn(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    GOWORK: "off", // ignore a workspace in a parent folder
    GOTMPDIR: folder, // temporary files of a killed build are removed with the folder
  };
}

/** The end of the output, without downloaded modules. `go mod download -json` writes errors to stdout. */
function errorOutput({ message, stdout = "", stderr = "" }: CommandFailure): string {
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("go: downloading "));
  return lines.slice(-12).join("\n") || message;
}
