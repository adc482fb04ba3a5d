// These tests put stand-ins for apt-get and dpkg-deb on PATH. Every test with a real node uses the real ones.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PackagesUnavailableError } from "../errors.ts";
import { silent } from "../progress.ts";
import { isStatic, librariesOf, unpackedPackages } from "./packages.ts";

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

it("unpacks what apt downloads, and uses the cache the second time", async () => {
  await apt({ knows: true });
  const folder = await unpackedPackages(["memcached"], options());
  expect(await readdir(join(folder, "usr/bin"))).toEqual(["memcached.deb"]);
  expect(await unpackedPackages(["memcached"], options())).toBe(folder);
  expect(await journal()).toEqual(["install"]);
  expect(await readdir(join(home, "cache/tmp"))).toEqual([]);
});

it("updates the package lists only when a download fails", async () => {
  await apt({ knows: false });
  await unpackedPackages(["memcached"], options());
  expect(await journal()).toEqual(["install", "update", "install"]);
});

it("does the work once for two callers at the same time", async () => {
  await apt({ knows: true });
  await Promise.all([unpackedPackages(["memcached"], options()), unpackedPackages(["memcached"], options())]);
  expect(await journal()).toEqual(["install"]);
});

it("says what to do when apt fails, and leaves no partial files", async () => {
  await program("apt-get", 'echo "E: Could not resolve deb.example" >&2; exit 100');
  const failure = await unpackedPackages(["memcached"], options()).catch((error) => error);
  expect(failure).toBeInstanceOf(PackagesUnavailableError);
  expect(failure.message).toContain("apt-get failed: E: Could not resolve deb.example");
  expect(await readdir(join(home, "cache/debian"))).toEqual([]);
  expect(await readdir(join(home, "cache/tmp"))).toEqual([]);
});

it("reports that apt is not installed", async () => {
  const nowhere = { env: { ...env(), PATH: join(home, "bin") }, progress: silent };
  await expect(unpackedPackages(["memcached"], nowhere)).rejects.toThrow("apt-get is not installed");
});

describe.skipIf(process.platform !== "linux")("shared libraries (ldd exists on Linux only)", () => {
  it("lists the C library and the loader of this Node", async () => {
    const libraries = await librariesOf(process.execPath);
    expect(libraries).toContainEqual(expect.stringMatching(/\/libc\.so\.6$/));
    expect(libraries).toContainEqual(expect.stringMatching(/\/ld-linux[^/]*\.so\.\d$/));
    expect(libraries.every((path) => path.startsWith("/"))).toBe(true);
    expect(await isStatic(process.execPath)).toBe(false);
  });

  it("finds none for a file that is not a dynamic executable", async () => {
    const script = join(home, "script");
    await writeFile(script, "#!/bin/sh\n");
    await chmod(script, 0o755);
    expect(await librariesOf(script)).toEqual([]);
    expect(await isStatic(script)).toBe(true);
  });
});
