import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { buildImage, fullName, type ImageSpec } from "./image.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "image-"));
  await mkdir(join(folder, "app/lib"), { recursive: true });
  await writeFile(join(folder, "app/main.ts"), "console.log(1)");
  await writeFile(join(folder, "app/lib/a.ts"), "export {}");
  await writeFile(join(folder, "app/secret.key"), "never");
  await symlink("main.ts", join(folder, "app/start.ts"));
});
afterEach(() => rm(folder, { recursive: true }));

const spec = (output: string): ImageSpec => ({
  name: "app:dev",
  layers: [
    [{ path: "/etc/passwd", content: "root:x:0:0::/:\n" }],
    [{ path: "/app", folder: join(folder, "app"), except: (path) => path.endsWith(".key") }],
  ],
  entrypoint: ["/bin/node", "main.ts"],
  env: { COLOR: "blue" },
  user: "65532:65532",
  workingFolder: "/app",
  output: join(folder, output),
});

const tar = async (...args: readonly string[]) => (await promisify(execFile)("tar", args, { encoding: "utf8" })).stdout;
const json = async (archive: string, path: string) => JSON.parse(await tar("-xOf", archive, path));
const blobOf = (digest: string) => `blobs/${digest.replace(":", "/")}`;

it("writes an archive of blobs that are named by their digest", async () => {
  const archive = await buildImage(spec("image.tar"));
  const manifest = await json(archive, blobOf((await json(archive, "index.json")).manifests[0].digest));
  for (const part of [manifest.config, ...manifest.layers]) {
    const { stdout } = await promisify(execFile)("tar", ["-xOf", archive, blobOf(part.digest)], { encoding: "buffer" });
    expect(`sha256:${createHash("sha256").update(stdout).digest("hex")}`).toBe(part.digest);
    expect(stdout.length).toBe(part.size);
  }
});

it("writes the entrypoint and the full image name", async () => {
  const archive = await buildImage(spec("image.tar"));
  const [docker] = await json(archive, "manifest.json");
  expect(docker.RepoTags).toEqual(["docker.io/library/app:dev"]);
  expect((await json(archive, docker.Config)).config).toMatchObject({
    Entrypoint: ["/bin/node", "main.ts"],
    Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "COLOR=blue"],
    User: "65532:65532",
    WorkingDir: "/app",
  });
});

it("adds a folder to a layer, sorted, with parent folders and without excluded files", async () => {
  const archive = await buildImage(spec("image.tar"));
  const [docker] = await json(archive, "manifest.json");
  const layer = join(folder, "layer.tar");
  await writeFile(layer, (await promisify(execFile)("tar", ["-xOf", archive, docker.Layers[1]], { encoding: "buffer" })).stdout);
  expect((await tar("-tf", layer)).trim().split("\n")).toEqual([
    "app/",
    "app/lib/",
    "app/lib/a.ts",
    "app/main.ts",
    "app/start.ts",
  ]);
});

it("builds identical images from identical files", async () => {
  const first = await readFile(await buildImage(spec("1.tar")));
  await utimes(join(folder, "app/main.ts"), 1, 1);
  expect(first.equals(await readFile(await buildImage(spec("2.tar"))))).toBe(true);
});

it("leaves no partial archive when a file is missing", async () => {
  const output = join(folder, "never.tar");
  const missing = { ...spec("never.tar"), layers: [[{ path: "/a", from: join(folder, "nothing") }]], output };
  await expect(buildImage(missing)).rejects.toThrow("ENOENT");
  await expect(readFile(output)).rejects.toThrow("ENOENT");
});

it.each([
  ["memhog", "docker.io/library/memhog:latest"],
  ["memhog:dev", "docker.io/library/memhog:dev"],
  ["you/memhog:dev", "docker.io/you/memhog:dev"],
  ["ghcr.io/you/memhog:1", "ghcr.io/you/memhog:1"],
  ["localhost/memhog", "localhost/memhog:latest"],
  ["localhost:5000/memhog", "localhost:5000/memhog:latest"],
  ["docker.io/library/memhog:dev", "docker.io/library/memhog:dev"],
])("%s is %s in full", (name, full) => expect(fullName(name)).toBe(full));
