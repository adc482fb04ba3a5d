import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PackagesUnavailableError } from "../errors.ts";
import { silent } from "../progress.ts";
import { unpackedPackages } from "./debian.ts";

// apt needs a network and minutes of goodwill, so these tests put programs of its name on PATH that behave as it does. That
// the real one works is shown by every test with a real node.

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "debian-"));
  await mkdir(join(home, "bin"));
});
afterEach(() => rm(home, { recursive: true }));

const env = () => ({ PATH: `${home}/bin:/usr/bin:/bin`, LOCALCLUSTER_CACHE: join(home, "cache") });
const options = () => ({ env: env(), progress: silent });
const journal = async () => (await readFile(join(home, "journal"), "utf8")).trim().split("\n");

async function program(name: string, script: string): Promise<void> {
  const path = join(home, "bin", name);
  await writeFile(path, `#!/bin/sh\nset -e\n${script}\n`);
  await chmod(path, 0o755);
}

/** Knows packages once it was told to update, if it was not from the beginning; "downloads" two of them. */
async function apt({ knows }: { knows: boolean }): Promise<void> {
  if (knows) await writeFile(join(home, "lists"), "");
  await program(
    "apt-get",
    `for last; do :; done
    case "$*" in
      *update) echo update >>${home}/journal; : >${home}/lists; exit;;
    esac
    echo install >>${home}/journal
    [ -e ${home}/lists ] || { echo "E: Unable to locate package $last" >&2; exit 100; }
    folder=$(echo "$*" | sed 's/.*Dir::Cache::archives=\\([^ ]*\\).*/\\1/')
    echo data >$folder/$last.deb; echo data >$folder/libjs-jquery_1.deb`,
  );
  await program("dpkg-deb", 'mkdir -p "$3/usr/bin"; cp "$2" "$3/usr/bin/"');
}

it("unpacks what apt downloads, and asks nobody the second time", async () => {
  await apt({ knows: true });
  const folder = await unpackedPackages(["memcached"], options());
  expect(await readdir(join(folder, "usr/bin"))).toEqual(["memcached.deb"]);
  expect(await unpackedPackages(["memcached"], options())).toBe(folder);
  expect(await journal()).toEqual(["install"]);
  expect(await readdir(join(home, "cache/tmp"))).toEqual([]);
});

it("updates the lists of packages only when one is not found", async () => {
  await apt({ knows: false });
  await unpackedPackages(["memcached"], options());
  expect(await journal()).toEqual(["install", "update", "install"]);
});

it("works once for two who want the same at the same time", async () => {
  await apt({ knows: true });
  await Promise.all([unpackedPackages(["memcached"], options()), unpackedPackages(["memcached"], options())]);
  expect(await journal()).toEqual(["install"]);
});

it("says what to do when apt fails, and leaves nothing half-made", async () => {
  await program("apt-get", 'echo "E: Could not resolve deb.example" >&2; exit 100');
  const failure = await unpackedPackages(["memcached"], options()).catch((error) => error);
  expect(failure).toBeInstanceOf(PackagesUnavailableError);
  expect(failure.message).toContain("memcached, which could not be fetched: apt-get failed: E: Could not resolve deb.example");
  expect(await readdir(join(home, "cache/debian"))).toEqual([]);
  expect(await readdir(join(home, "cache/tmp"))).toEqual([]);
});

it("says so where there is no apt", async () => {
  const nowhere = { env: { ...env(), PATH: join(home, "bin") }, progress: silent };
  await expect(unpackedPackages(["memcached"], nowhere)).rejects.toThrow("there is no apt-get here");
});
