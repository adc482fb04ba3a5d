// The hog as an image, built without Docker. Its types are stripped here and not when it starts: Node's stripper would stay in
// memory, some 18 MiB beside every figure that is taken from the hog.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeImage } from "@memhog/localcluster";

/** The name that the manifests in deploy/ use. */
export const hogImageName = "memhog/memhog:dev";

export interface HogImageOptions {
  /** The archive to write; see `cluster.load`. */
  readonly output: string;
  /** @default the name that the manifests in deploy/ use */
  readonly name?: string;
}

/** Writes the image; answers with the path of the archive. */
export async function hogImage({ output, name = hogImageName }: HogImageOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "memhog-"));
  try {
    await writeProgram(folder);
    return await nodeImage({ name, folder, entrypoint: ["main.js"], output });
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Loads {
  readonly load: (tar: string) => Promise<readonly string[]>;
}

/** Builds the image and loads it into the cluster's real node. */
export async function loadHog(cluster: Loads, options: Omit<HogImageOptions, "output"> = {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "memhog-image-"));
  try {
    await cluster.load(await hogImage({ ...options, output: join(folder, "memhog.tar") }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The program in plain JavaScript: what main.ts needs, and nothing that is here for those who use the hog. */
async function writeProgram(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const files = (await readdir(import.meta.dirname)).filter(
    (file) => !/^(index|image|pod)\.ts$|\.(test|fixture)\.ts$/.test(file),
  );
  for (const file of files) {
    const source = stripTypeScriptTypes(await readFile(join(import.meta.dirname, file), "utf8"));
    const script = source.replaceAll(/(\bfrom\s+"\.[^"]*)\.ts"/g, '$1.js"');
    await writeFile(join(folder, file.replace(/\.ts$/, ".js")), script);
  }
}
