import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silent } from "../progress.ts";
import { helmVersion } from "../versions.ts";
import { type BinaryName, findBinaries } from "./binaries.ts";
import { type PretendedGo, pretendGo } from "./fixtures/go.ts";
import { type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";

const kubernetes = {
  Module: { Path: "k8s.io/kubernetes" },
  Go: "1.26.0",
  Replace: [{ Old: { Path: "k8s.io/api" }, New: { Path: "./staging/src/k8s.io/api" } }],
};

it("builds what no release has, stamps its version and keeps it", async () => {
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

it("builds etcd as a program of our own around its module", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: { Module: { Path: "go.etcd.io/etcd/server/v3" }, Go: "1.26.0" } });
  await find("etcd", site, go);
  expect(go.told().module).toContain("func main() { etcdmain.Main(os.Args) }");
});

it("builds Helm from its module, and lets it know its patch version", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: { Module: { Path: "helm.sh/helm/v4" }, Go: "1.26.0" } });
  await find("helm", site, go);
  const { commands, module } = go.told();
  expect(module).toContain(`require helm.sh/helm/v4 v${helmVersion}`);
  expect(commands.at(-1)).toMatch(/version\.version=v\d+\.\d+\.\d+ .*helm\.sh\/helm\/v4\/cmd\/helm$/);
});

it("respects the GOFLAGS of the user, but not a workspace that happens to be around", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { upstream: kubernetes });
  await find("kubelet", site, go, { GOFLAGS: "-p=1", GOWORK: "/home/user/go.work" });
  expect(go.told().environment).toBe("GOFLAGS=-p=1 GOWORK=off");
});

it("says which module was refused", async () => {
  await using site = await releaseSite();
  const refusal = "echo 'go: downloading k8s.io/api v0.37.1' >&2; echo 'k8s.io/kms@v0.37.1: 404 Not Found' >&2; exit 1";
  const go = pretendGo(site.cache, { upstream: kubernetes, build: refusal });
  const failure = await find("kubelet", site, go).catch((error) => error);
  expect(failure).toMatchObject({ code: "NO_BINARIES" });
  expect(failure.message).toContain("k8s.io/kms@v0.37.1: 404 Not Found");
  expect(failure.message).not.toContain("go: downloading");
});

it("says which Go it found and which it wants, where the one is older than the other", async () => {
  await using site = await releaseSite();
  const go = pretendGo(site.cache, { version: "go1.22.3" });
  await expect(find("kubelet", site, go)).rejects.toThrow(/found Go 1.22.3, expected 1.26 or newer/);
});

it("stops a build when it is told to, for the reason it was given", async () => {
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
