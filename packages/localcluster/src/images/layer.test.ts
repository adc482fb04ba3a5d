import { execFile } from "node:child_process";
import { mkdir, mkdtemp, mkdtempDisposable, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { entriesOf, type TarEntry, tarOf, tarSize } from "./layer.ts";

it("uses the later of two files at one path", async () => {
  const entries = await entriesOf([
    { path: "/etc/motd", content: "first" },
    { path: "etc/../etc/motd", content: "second" },
  ]);
  expect(entries).toMatchObject([{ path: "etc/" }, { path: "etc/motd", content: Buffer.from("second") }]);
});

it("keeps the mode of a listed folder, and adds parent folders", async () => {
  expect(await entriesOf([{ path: "/var/tmp", mode: 0o1777 }])).toEqual([
    { type: "directory", path: "var/", mode: 0o755 },
    { type: "directory", path: "var/tmp/", mode: 0o1777 },
  ]);
});

it("keeps paths below the root", async () => {
  expect(await entriesOf([{ path: "../../etc/passwd", link: "x" }])).toMatchObject([{ path: "etc/" }, { path: "etc/passwd" }]);
});

it("excludes files of a folder, and does not follow symbolic links in it", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "files-"));
  await mkdir(join(folder.path, "packages/a"), { recursive: true });
  await mkdir(join(folder.path, "node_modules"));
  await writeFile(join(folder.path, "packages/a/main.ts"), "");
  await writeFile(join(folder.path, "packages/a/main.test.ts"), "");
  await symlink("../packages/a", join(folder.path, "node_modules/a"));
  const except = (path: string) => path.endsWith(".test.ts");
  const entries = await entriesOf([{ path: "/app", folder: folder.path, except }]);
  expect(entries.filter(({ type }) => type !== "directory")).toMatchObject([
    { type: "symlink", path: "app/node_modules/a", target: "../packages/a" },
    { type: "file", path: "app/packages/a/main.ts" },
  ]);
});

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tar-"));
});
afterEach(() => rm(folder, { recursive: true }));

const text = (path: string, content: string, mode = 0o644): TarEntry => {
  const bytes = Buffer.from(content);
  return { type: "file", path, mode, size: bytes.length, content: bytes };
};
const deep = `${"long-name/".repeat(40)}file`;
const entries: readonly TarEntry[] = [
  { type: "directory", path: "bin/", mode: 0o755 },
  text("bin/tool", "#!/bin/sh\n", 0o755),
  { type: "symlink", path: "bin/link", target: "tool" },
  { type: "symlink", path: "far", target: deep },
  text("empty", ""),
  text("block", "x".repeat(512)),
  text("žluťoučký kůň", "umlauts"),
  text(deep, "deep"),
];

/** The second judge: the tar of this machine. */
async function unpack(archive: Uint8Array): Promise<void> {
  await writeFile(join(folder, "archive.tar"), archive);
  await promisify(execFile)("tar", ["-xf", "archive.tar"], { cwd: folder });
}

it("writes archives that tar reads: modes, links, empty files, names of any length and script", async () => {
  await unpack(await buffer(tarOf(entries)));
  expect(await readFile(join(folder, "bin/link"), "utf8")).toBe("#!/bin/sh\n");
  expect(await readlink(join(folder, "far"))).toBe(deep);
  expect(await readFile(join(folder, deep), "utf8")).toBe("deep");
  expect(await readFile(join(folder, "empty"), "utf8")).toBe("");
  expect(await readFile(join(folder, "block"), "utf8")).toHaveLength(512);
  expect(await readFile(join(folder, "žluťoučký kůň"), "utf8")).toBe("umlauts");
  expect((await promisify(execFile)(join(folder, "bin/tool"))).stdout).toBe("");
});

it("computes the size of an archive without writing it", async () => {
  expect(tarSize(entries)).toBe((await buffer(tarOf(entries))).length);
});

it("rejects a file whose size changes while it is read", async () => {
  const file = join(folder, "growing");
  await writeFile(file, "twelve bytes");
  const entry: TarEntry = { type: "file", path: "growing", mode: 0o644, size: 5, content: { file } };
  await expect(buffer(tarOf([entry]))).rejects.toThrow("growing changed while it was read: expected 5 bytes, found 12");
});
