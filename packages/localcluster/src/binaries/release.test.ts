import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NoBinariesError } from "../errors.ts";
import { silent } from "../progress.ts";
import { type BinaryName, findBinaries } from "./binaries.ts";
import { type Answer, publish, type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";

it.each<BinaryName>(["kube-apiserver", "etcd", "helm"])(
  "downloads %s, verifies it and keeps it for the next run",
  async (name) => {
    await using site = await releaseSite();
    publish(site, name);
    const first = await find(site, name);
    expect(execFileSync(first).toString()).toBe(`${name}\n`);
    expect(first.startsWith(site.cache)).toBe(true);
    const asked = site.asked.length;
    expect(await find(site, name)).toBe(first);
    expect(site.asked).toHaveLength(asked);
  },
);

it("makes only what is asked for", async () => {
  await using site = await releaseSite();
  for (const name of ["kubectl", "kubelet"] as const) publish(site, name);
  await find(site, "kubectl");
  expect(site.asked.filter((path) => path.includes("kubelet"))).toEqual([]);
});

describe("refuses a release that", () => {
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
      says: /no SHA-256 .*<html>/,
    },
    {
      name: "has no checksum",
      wrong: (path) => [`${path}.sha256`, (response) => response.writeHead(500).end()],
      says: /answered 500/,
    },
  ];
  it.each(sites)("$name, and leaves nothing of it behind", async ({ wrong, says }) => {
    await using site = await releaseSite();
    site.answer(...wrong(publish(site, "kubectl")));
    const failure = await find(site, "kubectl").catch((error) => error);
    expect(failure).toBeInstanceOf(NoBinariesError);
    expect(failure.message).toMatch(says);
    expect(existsSync(join(site.cache, "kubernetes"))).toBe(false);
    expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
  });

  it("is an archive without etcd in it", async () => {
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
