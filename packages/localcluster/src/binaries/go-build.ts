// The last resort: a build from source, by the Go on this machine, with modules from the Go module proxy (which many closed
// networks have, where nothing else of the internet is). Go verifies what it fetches against its checksum database.
//
// It costs minutes the first time and seconds afterwards, because Go keeps its own cache of compiled packages, which we
// leave to it: an API server takes about 6 minutes on two cores, each other binary less than 2 more.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Binary, describe } from "./binary.ts";
import { findGo, type Go } from "./go.ts";
import { moduleFile, type UpstreamModule } from "./go-module.ts";
import type { Search } from "./search.ts";

/** Builds the binary in this folder; returns its path there. */
export async function build(binary: Binary, folder: string, search: Search): Promise<string> {
  const go = await findGo(folder, search);
  const recipe = recipes[binary.project](binary);
  const path = join(folder, binary.name);
  await search.progress.during(`building ${describe(binary)} with Go ${go.version}`, async (detail) => {
    const upstream = await readUpstream(recipe.module, binary.version, go);
    await writeFile(join(folder, "go.mod"), moduleFile(upstream, binary.version));
    if (recipe.main) await writeFile(join(folder, "main.go"), recipe.main);
    // -mod=mod lets Go complete our go.mod and write a go.sum; -trimpath keeps this machine's folders out of the binary.
    const flags = ["-mod=mod", "-trimpath", "-ldflags", recipe.linkerFlags, "-o", path];
    await go.run(["build", ...flags, recipe.package], countModules(detail));
  });
  return path;
}

interface Recipe {
  readonly module: string;
  readonly package: string;
  readonly linkerFlags: string;
  /** The source of a program of our own, where upstream's is not in a module that can be asked for. */
  readonly main?: string;
}

const recipes: Readonly<Record<Binary["project"], (binary: Binary) => Recipe>> = {
  kubernetes: kubernetesRecipe,
  etcd: etcdRecipe,
  helm: helmRecipe,
};

/** Without the stamped version, the API server tells its clients that it is v0.0.0, and many believe it. */
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

/** etcd's own main package is in a module full of replacements; what it does is this. */
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

/** It would say v4.3, without the patch. */
function helmRecipe({ version }: Binary): Recipe {
  const module = "helm.sh/helm/v4";
  return { module, package: `${module}/cmd/helm`, linkerFlags: `-s -w -X ${module}/internal/version.version=v${version}` };
}

/** Upstream's go.mod, parsed by Go itself. */
async function readUpstream(module: string, version: string, go: Go): Promise<UpstreamModule> {
  const { GoMod } = JSON.parse(await go.run(["mod", "download", "-json", `${module}@v${version}`]));
  return JSON.parse(await go.run(["mod", "edit", "-json", GoMod]));
}

/** A first build downloads some hundred modules before it compiles: worth a word, so that nobody thinks it hangs. */
function countModules(detail: (text: string) => void): (text: string) => void {
  let modules = 0;
  return (text) => {
    modules += text.match(/^go: downloading /gm)?.length ?? 0;
    if (modules > 0) detail(`${modules} modules downloaded`);
  };
}
