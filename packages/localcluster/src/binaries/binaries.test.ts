import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { BinaryUnavailableError, UnknownVersionError } from "../errors.ts";
import { silent } from "../progress.ts";
import { findBinaries } from "./binaries.ts";
import { publish, releaseSite, temporaryFolder } from "./fixtures/release-site.ts";

it("returns exactly the requested binaries", async () => {
  await using site = await releaseSite();
  for (const name of ["etcd", "kube-apiserver", "kubectl"] as const) publish(site, name);
  const found = await findBinaries(["etcd", "kube-apiserver"], { env: site.env, progress: silent });
  expect(Object.keys(found)).toEqual(["etcd", "kube-apiserver"]);
});

it("prefers the environment to the cache, and the cache to the release", async () => {
  await using site = await releaseSite();
  publish(site, "kubectl");
  const cached = join(site.cache, "kubernetes/1.37.1/kubectl");
  const named = join(site.cache, "..", "named/kubectl");
  for (const path of [cached, named]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, 0o755);
  }
  const find = async (env: NodeJS.ProcessEnv) => (await findBinaries(["kubectl"], { env, progress: silent })).kubectl;
  expect(await find({ ...site.env, LOCALCLUSTER_KUBECTL: named })).toBe(named);
  expect(await find(site.env)).toBe(cached);
  expect(site.asked).toEqual([]);
});

it("lists the attempts, their errors and the remedy, without network and without Go", async () => {
  const site = await releaseSite();
  await site[Symbol.asyncDispose](); // nobody listens at its address any more
  await using cache = await temporaryFolder(); // that of the site is gone with it
  const env = { ...site.env, LOCALCLUSTER_CACHE: cache.path, LOCALCLUSTER_GO: undefined, PATH: "/nowhere" };
  const failure = await findBinaries(["kube-apiserver"], { env, progress: silent, kubernetes: "1.37" }).catch((error) => error);
  expect(failure).toBeInstanceOf(BinaryUnavailableError);
  expect(failure.code).toBe("BINARY_UNAVAILABLE");
  expect(
    failure.message
      .replaceAll(site.url, "<site>")
      .replaceAll(cache.path, "<cache>")
      .replace(/(ECONNREFUSED) .*/, "$1")
      .replace(/amd64|arm64/, "<arch>"),
  ).toBe(`kube-apiserver 1.37.1 is not on this machine and cannot be downloaded or built.
Tried:
  - the environment: neither LOCALCLUSTER_KUBE_APISERVER nor KUBEBUILDER_ASSETS is set
  - the cache: <cache>/kubernetes/1.37.1/kube-apiserver does not exist
  - the release: <site>/v1.37.1/bin/linux/<arch>/kube-apiserver.sha256: connect ECONNREFUSED
  - go build: expected Go 1.26 or newer; cannot run "go" (spawn go ENOENT)
You can:
  - install Go 1.26 or newer (https://go.dev/dl) with access to a Go module proxy (GOPROXY),
  - or give this machine access to <site>, or set LOCALCLUSTER_RELEASE_URL to a mirror of the releases,
  - or set KUBEBUILDER_ASSETS to a folder that has kube-apiserver, for example one of setup-envtest,
  - or set LOCALCLUSTER_KUBE_APISERVER to the path of a binary.`);
});

it("rejects a version that is not in the table", async () => {
  await expect(findBinaries(["etcd"], { kubernetes: "1.12" })).rejects.toThrow(UnknownVersionError);
});

it("reports a cache that cannot be written", async () => {
  await using site = await releaseSite();
  const file = join(site.cache, "..", "file");
  writeFileSync(file, "");
  const search = findBinaries(["etcd"], { env: { LOCALCLUSTER_CACHE: join(file, "cache") }, progress: silent });
  await expect(search).rejects.toMatchObject({ code: "CACHE_UNWRITABLE" });
});
