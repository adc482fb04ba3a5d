import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isStatic, librariesOf } from "./libraries.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "libraries-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe.skipIf(process.platform !== "linux")("libraries (ldd is Linux's)", () => {
  it("names the C library and the loader of the Node that runs this", async () => {
    const libraries = await librariesOf(process.execPath);
    expect(libraries).toContainEqual(expect.stringMatching(/\/libc\.so\.6$/));
    expect(libraries).toContainEqual(expect.stringMatching(/\/ld-linux[^/]*\.so\.\d$/));
    expect(libraries.every((path) => path.startsWith("/"))).toBe(true);
    expect(await isStatic(process.execPath)).toBe(false);
  });

  it("finds none for what is not a dynamic program", async () => {
    const script = join(folder, "script");
    await writeFile(script, "#!/bin/sh\n");
    await chmod(script, 0o755);
    expect(await librariesOf(script)).toEqual([]);
    expect(await isStatic(script)).toBe(true);
  });
});
