import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NotExecutableError, UnsupportedPlatformError } from "../errors.ts";
import { silent } from "../progress.ts";
import { type BinaryName, findBinaries } from "./binaries.ts";
import { publish, type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";
import { cacheDirectory, prepareSearch } from "./search.ts";

const folders = [
  { env: { HOME: "/home/me" }, gives: "/home/me/.cache/localcluster" },
  { env: { HOME: "/home/me", XDG_CACHE_HOME: "/var/cache/me" }, gives: "/var/cache/me/localcluster" },
  { env: { HOME: "/home/me", XDG_CACHE_HOME: "/var/cache/me", LOCALCLUSTER_CACHE: "/fast/binaries" }, gives: "/fast/binaries" },
];
it.each(folders)("keeps binaries in $gives for $env", ({ env, gives }) => expect(cacheDirectory(env)).toBe(gives));

const machines = [
  { platform: "linux", arch: "x64", gives: "amd64" },
  { platform: "linux", arch: "arm64", gives: "arm64" },
];
it.each(machines)("looks for $gives on $platform/$arch", ({ platform, arch, gives }) =>
  expect(prepareSearch({}, { platform, arch }).architecture).toBe(gives),
);

it.each([
  { platform: "darwin", arch: "arm64" },
  { platform: "win32", arch: "x64" },
  { platform: "linux", arch: "ia32" },
])("rejects $platform/$arch", ({ platform, arch }) => {
  expect(() => prepareSearch({}, { platform, arch })).toThrow(UnsupportedPlatformError);
  expect(() => prepareSearch({}, { platform, arch })).toThrow(`this is ${platform} on ${arch}`);
});

it("uses the file that the environment names, whatever its version", async () => {
  await using site = await releaseSite();
  const path = put(site, "mine", "kube-apiserver", "echo Kubernetes v1.20.0");
  expect(await find("kube-apiserver", site, { LOCALCLUSTER_KUBE_APISERVER: path }, "1.37")).toBe(path);
  expect(site.asked).toEqual([]);
});

const unfit = [
  { name: "is not there", make: () => {} },
  { name: "is a folder", make: (path: string) => mkdirSync(path, { recursive: true }) },
  { name: "may not be executed", make: (path: string) => writeFileSync(path, "#!/bin/sh\n", { mode: 0o644 }) },
];
it.each(unfit)("rejects a named file that $name", async ({ make }) => {
  await using site = await releaseSite();
  publish(site, "etcd");
  const path = join(site.cache, "..", "etcd");
  make(path);
  const search = find("etcd", site, { LOCALCLUSTER_ETCD: path });
  await expect(search).rejects.toThrow(NotExecutableError);
  await expect(search).rejects.toThrow(`LOCALCLUSTER_ETCD: expected the absolute path of an executable file, found "${path}"`);
});

it("uses the binaries in KUBEBUILDER_ASSETS, and other sources for the rest", async () => {
  await using site = await releaseSite();
  const etcd = put(site, "assets", "etcd", "echo etcd Version: 3.5.0");
  publish(site, "kubectl");
  const env = { KUBEBUILDER_ASSETS: join(site.cache, "..", "assets") };
  expect(await find("etcd", site, env)).toBe(etcd);
  expect(await find("kubectl", site, env)).toContain(site.cache);
});

const versions = [
  { name: "any version where none was asked for", says: "v1.30.1", asked: undefined, gives: "taken" },
  { name: "another patch of the version asked for", says: "v1.37.0", asked: "1.37", gives: "taken" },
  { name: "another version than the one asked for", says: "v1.30.1", asked: "1.37", gives: "passed over" },
  { name: "a program that does not say its version", says: "hello", asked: "1.37", gives: "passed over" },
];
it.each(versions)("KUBEBUILDER_ASSETS with $name is $gives", async ({ says, asked, gives }) => {
  await using site = await releaseSite();
  const path = put(site, "assets", "kube-apiserver", `echo Kubernetes ${says}`);
  publish(site, "kube-apiserver");
  const found = await find("kube-apiserver", site, { KUBEBUILDER_ASSETS: join(path, "..") }, asked);
  expect(found === path).toBe(gives === "taken");
});

/** A script in a folder of its own beside the cache. */
function put(site: ReleaseSite, folder: string, name: BinaryName, script: string): string {
  const path = join(site.cache, "..", folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function find(name: BinaryName, site: ReleaseSite, env: NodeJS.ProcessEnv, kubernetes?: string): Promise<string> {
  return (await findBinaries([name], { env: { ...site.env, ...env }, progress: silent, kubernetes }))[name];
}
