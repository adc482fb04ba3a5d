import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crdOf } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { checkManifests, writeManifests } from "./drift.ts";
import { Gordon, Memcached } from "./kinds.fixture.ts";

async function scratch() {
  const folder = await mkdtemp(join(tmpdir(), "drift-"));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

const files = { "crd/gordons.yaml": [crdOf(Gordon)], "reference.md": "# Gordon\n" };

describe("checked-in manifests", () => {
  it("are missing, then written, then all is well", async () => {
    await using place = await scratch();
    expect((await checkManifests(place.folder, files)).map(({ path, problem }) => [path, problem])).toEqual([
      ["crd/gordons.yaml", "missing"],
      ["reference.md", "missing"],
    ]);
    expect(await writeManifests(place.folder, files)).toEqual(["crd/gordons.yaml", "reference.md"]);
    expect(await checkManifests(place.folder, files)).toEqual([]);
    expect(await writeManifests(place.folder, files)).toEqual([]);
  });

  it("show manual changes and their position", async () => {
    await using place = await scratch();
    await writeManifests(place.folder, files);
    const path = join(place.folder, "crd/gordons.yaml");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("maximum: 1000", "maximum: 5000"));
    const [difference] = await checkManifests(place.folder, files);
    expect(difference?.problem).toBe("different");
    expect(
      difference?.diff
        .split("\n")
        .filter((line) => /^[-+]/.test(line))
        .map((line) => line.replace(/\s+/g, " ")),
    ).toEqual(["+ maximum: 1000", "- maximum: 5000"]);
    expect(difference?.diff).toMatch(/minimum: 0/);
  });

  it("are removed when their kind is gone, but only if they were made here", async () => {
    await using place = await scratch();
    await writeManifests(place.folder, { ...files, "crd/memcacheds.yaml": [crdOf(Memcached)] });
    await writeFile(join(place.folder, "by-hand.yaml"), "kind: Namespace\n");
    expect((await checkManifests(place.folder, files)).map(({ path, problem }) => [path, problem])).toEqual([
      ["crd/memcacheds.yaml", "left over"],
    ]);
    expect(await writeManifests(place.folder, files)).toEqual(["crd/memcacheds.yaml"]);
    expect(await checkManifests(place.folder, files)).toEqual([]);
    expect(await readFile(join(place.folder, "by-hand.yaml"), "utf8")).toBe("kind: Namespace\n");
  });
});
