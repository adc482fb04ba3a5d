import { mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { entriesOf } from "./files.ts";

it("lets the later of two files at one path win", async () => {
  const entries = await entriesOf([
    { path: "/etc/motd", content: "first" },
    { path: "etc/../etc/motd", content: "second" },
  ]);
  expect(entries).toMatchObject([{ path: "etc/" }, { path: "etc/motd", content: Buffer.from("second") }]);
});

it("keeps the mode of a folder that is named, and makes the others on the way", async () => {
  expect(await entriesOf([{ path: "/var/tmp", mode: 0o1777 }])).toEqual([
    { type: "directory", path: "var/", mode: 0o755 },
    { type: "directory", path: "var/tmp/", mode: 0o1777 },
  ]);
});

it("never reaches above the root", async () => {
  expect(await entriesOf([{ path: "../../etc/passwd", link: "x" }])).toMatchObject([{ path: "etc/" }, { path: "etc/passwd" }]);
});

it("takes a folder without what is left out, and with links as links: nothing behind one comes in", async () => {
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
