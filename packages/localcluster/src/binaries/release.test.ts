import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BinaryUnavailableError, DownloadError } from "../errors.ts";
import { silent } from "../progress.ts";
import { type BinaryName, findBinaries } from "./binaries.ts";
import { type Answer, publish, type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";
import { Downloads } from "./release.ts";

it.each<BinaryName>(["kube-apiserver", "etcd", "helm"])("downloads %s, verifies it and caches it", async (name) => {
  await using site = await releaseSite();
  publish(site, name);
  const first = await find(site, name);
  expect(execFileSync(first).toString()).toBe(`${name}\n`);
  expect(first.startsWith(site.cache)).toBe(true);
  const asked = site.asked.length;
  expect(await find(site, name)).toBe(first);
  expect(site.asked).toHaveLength(asked);
});

it("downloads only requested binaries", async () => {
  await using site = await releaseSite();
  for (const name of ["kubectl", "kubelet"] as const) publish(site, name);
  await find(site, "kubectl");
  expect(site.asked.filter((path) => path.includes("kubelet"))).toEqual([]);
});

describe("rejects a release that", () => {
  const sites: readonly { name: string; wrong: (path: string) => readonly [string, Answer]; says: RegExp }[] = [
    {
      name: "is not what its checksum says",
      wrong: (path) => [path, "#!/bin/sh\necho evil\n"],
      says: /expected SHA-256 .*, found/,
    },
    { name: "is empty", wrong: (path) => [path, ""], says: /expected SHA-256/ },
    {
      name: "breaks off",
      wrong: (path) => [
        path,
        (response) => response.writeHead(200, { "content-length": 99 }).write("#!", () => response.destroy()),
      ],
      says: /broke off/,
    },
    {
      name: "is not there",
      wrong: (path) => [path, (response) => response.writeHead(404).end()],
      says: /answered 404 Not Found/,
    },
    {
      name: "has a page in place of a checksum",
      wrong: (path) => [`${path}.sha256`, "<html>Log in</html>"],
      says: /expected a SHA-256 .*<html>/,
    },
    {
      name: "has no checksum",
      wrong: (path) => [`${path}.sha256`, (response) => response.writeHead(500).end()],
      says: /answered 500/,
    },
  ];
  it.each(sites)("$name, and leaves no partial file", async ({ wrong, says }) => {
    await using site = await releaseSite();
    site.answer(...wrong(publish(site, "kubectl")));
    const failure = await find(site, "kubectl").catch((error) => error);
    expect(failure).toBeInstanceOf(BinaryUnavailableError);
    expect(failure.message).toMatch(says);
    expect(existsSync(join(site.cache, "kubernetes"))).toBe(false);
    expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
  });

  it("is an archive without etcd", async () => {
    await using site = await releaseSite();
    const path = publish(site, "etcd");
    const stranger = Buffer.from("not an archive");
    site.answer(path, stranger);
    const sum = createHash("sha256").update(stranger).digest("hex");
    site.answer(path.replace(/[^/]*$/, "SHA256SUMS"), `${sum}  ${path.replace(/.*\//, "")}\n`);
    await expect(find(site, "etcd")).rejects.toThrow(/cannot be unpacked/);
  });
});

async function find(site: ReleaseSite, name: BinaryName): Promise<string> {
  return (await findBinaries([name], { env: site.env, progress: silent }))[name];
}

const ignore = () => {};

it("writes a file, reports progress, and returns its SHA-256", async () => {
  await using site = await releaseSite();
  const content = Buffer.alloc(3_000_000, "release");
  site.answer("/file", content);
  const details: string[] = [];
  const path = join(site.cache, "..", "file");
  const sum = await new Downloads().file(`${site.url}/file`, path, (text) => details.push(text));
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(sum).toBe(createHash("sha256").update(content).digest("hex"));
  expect(details.at(-1)).toBe("3 of 3 MB");
});

it("follows redirects, as the sites of Kubernetes and of etcd send them", async () => {
  await using site = await releaseSite();
  site.answer("/here", (response) => response.writeHead(302, { location: `${site.url}/there` }).end());
  site.answer("/there", "found");
  expect(await new Downloads().text(`${site.url}/here`)).toBe("found");
});

it("gives up on a host that does not answer, and does not try it again", async () => {
  await using site = await releaseSite();
  site.answer("/text", ignore);
  const downloads = new Downloads({ responseWithin: 50 });
  await expect(downloads.text(`${site.url}/text`)).rejects.toThrow(/no response within 0.05 s/);
  await expect(downloads.text(`${site.url}/other`)).rejects.toThrow(/other: no response within/);
  expect(site.asked).toEqual(["/text"]);
});

it("gives up on a response that stalls", async () => {
  await using site = await releaseSite();
  site.answer("/file", (response) => response.writeHead(200).write("some"));
  const downloads = new Downloads({ bytesWithin: 50 });
  await expect(downloads.file(`${site.url}/file`, join(site.cache, "..", "file"), ignore)).rejects.toThrow(
    /no more bytes within/,
  );
});

it("reports why a host cannot be reached", async () => {
  const site = await releaseSite();
  await site[Symbol.asyncDispose]();
  const failure = await new Downloads().text(`${site.url}/text`).catch((error) => error);
  expect(failure).toBeInstanceOf(DownloadError);
  expect(failure.message).toMatch(/ECONNREFUSED/);
});

it("stops a download with the reason of the signal", async () => {
  await using site = await releaseSite();
  const stop = new AbortController();
  site.answer("/text", () => stop.abort(new Error("enough")));
  await expect(new Downloads({ signal: stop.signal }).text(`${site.url}/text`)).rejects.toThrow("enough");
});
