// The hog as an image, built without Docker, and as small as Node can be: what it uses beside what it holds blurs every figure.
// Measured on a real node as the kubelet's working set, holding nothing: 14.1 MiB after a minute, of which the just-in-time compiler
// costs 2.6 and makes it drift; without it, 11.5 MiB from the first sample on. Types are stripped here and not when the
// hog starts, because Node's stripper would stay in memory: 12 MiB more. Other flags (--max-semi-space-size, --v8-pool-size) gained nothing.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
    return await nodeImage({ name, folder, entrypoint: ["--jitless", "main.js"], output });
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
