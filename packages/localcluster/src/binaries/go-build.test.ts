import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silent } from "../progress.ts";
import { helmVersion } from "../versions.ts";
import { type BinaryName, findBinaries } from "./binaries.ts";
import { type PretendedGo, pretendGo } from "./fixtures/go.ts";
import { type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";
import { isSufficient, moduleFile } from "./go-build.ts";

const kubernetes = {
  Module: { Path: "k8s.io/kubernetes" },
  Go: "1.26.0",
  Replace: [{ Old: { Path: "k8s.io/api" }, New: { Path: "./staging/src/k8s.io/api" } }],
};

it("builds a binary without a release, stamps its version and caches it", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: kubernetes });
  const path = await find("kubelet", site, go);
  expect(execFileSync(path).toString()).toBe("built\n");
  const { commands, module } = go.told();
  expect(commands).toContainEqual("mod download -json k8s.io/kubernetes@v1.37.1");
  expect(commands.at(-1)).toMatch(
    /^build -mod=mod -trimpath -ldflags -s -w .*gitVersion=v1.37.1 .*k8s.io\/kubernetes\/cmd\/kubelet$/,
  );
  expect(module).toContain("replace k8s.io/api => k8s.io/api v0.37.1");
  expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
});

it("builds etcd with a generated main program", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: { Module: { Path: "go.etcd.io/etcd/server/v3" }, Go: "1.26.0" } });
  await find("etcd", site, go);
  expect(go.told().module).toContain("func main() { etcdmain.Main(os.Args) }");
});

it("builds Helm from its module and stamps its patch version", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: { Module: { Path: "helm.sh/helm/v4" }, Go: "1.26.0" } });
  await find("helm", site, go);
  const { commands, module } = go.told();
  expect(module).toContain(`require helm.sh/helm/v4 v${helmVersion}`);
  expect(commands.at(-1)).toMatch(/version\.version=v\d+\.\d+\.\d+ .*helm\.sh\/helm\/v4\/cmd\/helm$/);
});

it("respects GOFLAGS, and ignores a Go workspace in a parent folder", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: kubernetes });
  await find("kubelet", site, go, { GOFLAGS: "-p=1", GOWORK: "/home/user/go.work" });
  expect(go.told().environment).toBe("GOFLAGS=-p=1 GOWORK=off");
});

it("reports the module that could not be downloaded", async () => {
  await using site = await releaseSite();
  const refusal = "echo 'go: downloading k8s.io/api v0.37.1' >&2; echo 'k8s.io/kms@v0.37.1: 404 Not Found' >&2; exit 1";
  const go = pretendGo(site.cache, { upstream: kubernetes, build: refusal });
  const failure = await find("kubelet", site, go).catch((error) => error);
  expect(failure).toMatchObject({ code: "BINARY_UNAVAILABLE" });
  expect(failure.message).toContain("k8s.io/kms@v0.37.1: 404 Not Found");
  expect(failure.message).not.toContain("go: downloading");
});

it("reports a Go that is too old", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { version: "go1.22.3" });
  await expect(find("kubelet", site, go)).rejects.toThrow(/expected Go 1.26 or newer .*, found Go 1.22.3/);
});

it("stops a build with the reason of the signal", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: kubernetes, build: "echo 'go: downloading k8s.io/api' >&2; exec sleep 600" });
  const stop = new AbortController();
  const progress = {
    ...silent,
    during: <T>(_: string, work: (detail: () => void) => Promise<T>) => work(() => stop.abort(new Error("enough"))),
  };
  const env = { ...site.env, LOCALCLUSTER_GO: go.command };
  await expect(findBinaries(["kubelet"], { env, progress, signal: stop.signal })).rejects.toThrow("enough");
  expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
});

async function find(name: BinaryName, site: ReleaseSite, go: PretendedGo, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const found = await findBinaries([name], { env: { ...site.env, ...env, LOCALCLUSTER_GO: go.command }, progress: silent });
  return found[name];
}

it("requires Kubernetes and replaces its staging folders by published libraries", () => {
  const upstream = {
    Module: { Path: "k8s.io/kubernetes" },
    Go: "1.23.0",
    GoDebug: [
      { Key: "default", Value: "go1.23" },
      { Key: "winsymlink", Value: "0" },
    ],
    Replace: [
      { Old: { Path: "k8s.io/api" }, New: { Path: "./staging/src/k8s.io/api" } },
      { Old: { Path: "k8s.io/kubectl" }, New: { Path: "./staging/src/k8s.io/kubectl" } },
      { Old: { Path: "example.com/forked" }, New: { Path: "example.com/fork" } },
    ],
  };
  expect(moduleFile(upstream, "1.32.2")).toBe(`module localcluster/build
go 1.23.0
godebug default=go1.23
godebug winsymlink=0
require k8s.io/kubernetes v1.32.2
replace k8s.io/api => k8s.io/api v0.32.2
replace k8s.io/kubectl => k8s.io/kubectl v0.32.2
`);
});

it("keeps other replacements of etcd out of go.mod", () => {
  const upstream = {
    Module: { Path: "go.etcd.io/etcd/server/v3" },
    Go: "1.26.0",
    GoDebug: null,
    Replace: [{ Old: { Path: "go.etcd.io/etcd/api/v3" }, New: { Path: "../api" } }],
  };
  expect(moduleFile(upstream, "3.7.3")).toBe(`module localcluster/build
go 1.26.0
require go.etcd.io/etcd/server/v3 v3.7.3
`);
});

const cases = [
  { version: "go1.26.8", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.26", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.26rc1", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go2.0.1", toolchain: "local", wanted: "1.26", gives: true },
  { version: "devel go1.27-8e1f2ab", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.25.9", toolchain: "local", wanted: "1.26", gives: false },
  { version: "go1.25.9", toolchain: "auto", wanted: "1.26", gives: true },
  { version: "go1.9.7", toolchain: "local", wanted: "1.26", gives: false },
  { version: "go1.20.4", toolchain: "auto", wanted: "1.26", gives: false },
  { version: "", toolchain: "auto", wanted: "1.26", gives: false },
];
it.each(cases)(
  "$version with GOTOOLCHAIN=$toolchain builds what wants Go $wanted: $gives",
  ({ version, toolchain, wanted, gives }) => expect(isSufficient(version, toolchain, wanted)).toBe(gives),
);
