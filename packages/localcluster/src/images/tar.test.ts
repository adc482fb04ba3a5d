import { execFile } from "node:child_process";
import { mkdtemp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type TarEntry, tarOf, tarSize } from "./tar.ts";

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

it("writes what tar reads: modes, links, empty files, names of any length and script", async () => {
  await unpack(await buffer(tarOf(entries)));
  expect(await readFile(join(folder, "bin/link"), "utf8")).toBe("#!/bin/sh\n");
  expect(await readlink(join(folder, "far"))).toBe(deep);
  expect(await readFile(join(folder, deep), "utf8")).toBe("deep");
  expect(await readFile(join(folder, "empty"), "utf8")).toBe("");
  expect(await readFile(join(folder, "block"), "utf8")).toHaveLength(512);
  expect(await readFile(join(folder, "žluťoučký kůň"), "utf8")).toBe("umlauts");
  expect((await promisify(execFile)(join(folder, "bin/tool"))).stdout).toBe("");
});

it("knows its size before it is written", async () => {
  expect(tarSize(entries)).toBe((await buffer(tarOf(entries))).length);
});

it("refuses a file that is not as long as it was when it was looked at", async () => {
  const file = join(folder, "growing");
  await writeFile(file, "twelve bytes");
  const entry: TarEntry = { type: "file", path: "growing", mode: 0o644, size: 5, content: { file } };
  await expect(buffer(tarOf([entry]))).rejects.toThrow("growing changed while it was read: expected 5 bytes, found 12");
});
