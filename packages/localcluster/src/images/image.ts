// Builds images without Docker and without a registry. An image is an archive of a few JSON files and the tars of its layers, each
// named by its SHA-256; `ctr images import`, `docker load` and `podman load` read it.
//
//     await buildImage({ name: "memhog:dev", layers: [[{ path: "/bin/memhog", from: "build/memhog" }]], entrypoint: ["/bin/memhog"], output: "memhog.tar" });
//
// Layers are not compressed, because they are read once, on this machine. A layer is read twice, for its digest and for the archive, and
// never held in memory.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { entriesOf, type ImageFile, type TarEntry, tarOf, tarSize } from "./layer.ts";

export interface ImageSpec {
  /** As in a pod: "memhog:dev". */
  readonly name: string;
  /** From the bottom up. */
  readonly layers: readonly (readonly ImageFile[])[];
  readonly entrypoint: readonly string[];
  /** Default arguments, which a pod's `args` replace. @default none */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** "UID:GID". @default root */
  readonly user?: string;
  readonly workingFolder?: string;
  /** The path of the archive to write. */
  readonly output: string;
}

interface Blob {
  readonly digest: string;
  readonly size: number;
  readonly entry: TarEntry;
}

/** Writes the archive and returns its path. */
export async function buildImage(spec: ImageSpec): Promise<string> {
  const layers = await Promise.all(spec.layers.map(layerBlob));
  const config = jsonBlob(configOf(spec, layers));
  const manifest = jsonBlob(manifestOf(config, layers));
  const unfinished = `${spec.output}.${process.pid}.tmp`;
  try {
    await pipeline(tarOf(archiveOf(spec, { layers, config, manifest })), createWriteStream(unfinished));
    await rename(unfinished, spec.output);
  } finally {
    await rm(unfinished, { force: true });
  }
  return spec.output;
}

async function layerBlob(files: readonly ImageFile[]): Promise<Blob> {
  const entries = await entriesOf(files);
  const hash = createHash("sha256");
  for await (const chunk of tarOf(entries)) hash.update(chunk);
  return blob(hash.digest("hex"), tarSize(entries), () => tarOf(entries));
}

function jsonBlob(value: object): Blob {
  const content = Buffer.from(JSON.stringify(value));
  return blob(createHash("sha256").update(content).digest("hex"), content.length, content);
}

function blob(sha256: string, size: number, content: (TarEntry & { type: "file" })["content"]): Blob {
  const entry: TarEntry = { type: "file", path: `blobs/sha256/${sha256}`, mode: 0o644, size, content };
  return { digest: `sha256:${sha256}`, size, entry };
}

/** Go's name of the architecture. */
function architecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

function configOf(spec: ImageSpec, layers: readonly Blob[]): object {
  return {
    created: "1970-01-01T00:00:00Z",
    architecture: architecture(),
    os: "linux",
    config: {
      Entrypoint: spec.entrypoint,
      Cmd: spec.command ?? [],
      Env: Object.entries({ PATH: "/usr/local/bin:/usr/bin:/bin", ...spec.env }).map(([key, value]) => `${key}=${value}`),
      User: spec.user ?? "",
      WorkingDir: spec.workingFolder ?? "/",
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
  };
}

const media = "application/vnd.oci.image";

function manifestOf(config: Blob, layers: readonly Blob[]): object {
  return {
    schemaVersion: 2,
    mediaType: `${media}.manifest.v1+json`,
    config: { mediaType: `${media}.config.v1+json`, digest: config.digest, size: config.size },
    layers: layers.map(({ digest, size }) => ({ mediaType: `${media}.layer.v1.tar`, digest, size })),
  };
}

/** The OCI layout, and Docker's manifest for older tools. */
function archiveOf(
  spec: ImageSpec,
  { layers, config, manifest }: Record<"config" | "manifest", Blob> & { layers: readonly Blob[] },
): readonly TarEntry[] {
  const name = fullName(spec.name);
  const index = {
    schemaVersion: 2,
    mediaType: `${media}.index.v1+json`,
    manifests: [
      {
        mediaType: `${media}.manifest.v1+json`,
        digest: manifest.digest,
        size: manifest.size,
        platform: { architecture: architecture(), os: "linux" },
        annotations: { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.split(":").at(-1) },
      },
    ],
  };
  const docker = [{ Config: config.entry.path, RepoTags: [name], Layers: layers.map(({ entry }) => entry.path) }];
  // Identical layers are one blob.
  const blobs = new Map([...layers, config, manifest].map(({ entry }) => [entry.path, entry]));
  return [
    ...blobs.values(),
    json("index.json", index),
    json("manifest.json", docker),
    json("oci-layout", { imageLayoutVersion: "1.0.0" }),
  ];
}

function json(path: string, value: object): TarEntry {
  const content = Buffer.from(JSON.stringify(value));
  return { type: "file", path, mode: 0o644, size: content.length, content };
}

/**
 * The full name of an image, as containerd and the kubelet use it: "memhog" → "docker.io/library/memhog:latest",
 * "ghcr.io/you/memhog:1" unchanged.
 */
export function fullName(name: string): string {
  const [first = "", ...rest] = name.split("/");
  // A first part with a dot, a port, or "localhost" is a registry; anything else is a user of Docker Hub.
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? name : `docker.io/${rest.length === 0 ? "library/" : ""}${name}`;
  return path.split("/").at(-1)?.includes(":") ? path : `${path}:latest`;
}
