// The hog as a container image, built without Docker, and as a pod, for tests and benchmarks. For other uses see deploy/.
//
// The image is as small as Node allows, because what the hog uses beyond what it holds blurs every measurement. Measured on a real node
// as the working set of the kubelet, holding nothing: 14.1 MiB after a minute, of which the just-in-time compiler takes 2.6 MiB and
// makes it drift; with --jitless, 11.5 MiB from the first sample on. Types are stripped when the image is built, because Node's
// stripper would stay in memory: 12 MiB more. Other flags (--max-semi-space-size, --v8-pool-size) gained nothing.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeImage } from "@memhog/localcluster";

/** The name that the manifests in deploy/ use. */
export const hogImageName = "memhog/hog:dev";

export interface HogImageOptions {
  /** The archive to write; see `cluster.load`. */
  readonly output: string;
  /** @default the name that the manifests in deploy/ use */
  readonly name?: string;
}

/** Writes the image and returns the path of the archive. */
export async function hogImage({ output, name = hogImageName }: HogImageOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hog-"));
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
  const folder = await mkdtemp(join(tmpdir(), "hog-image-"));
  try {
    await cluster.load(await hogImage({ ...options, output: join(folder, "hog.tar") }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The program as JavaScript, without the files that are not part of it. */
async function writeProgram(folder: string): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const files = (await readdir(import.meta.dirname)).filter((file) => !/^(index|image)\.ts$|\.(test|fixture)\.ts$/.test(file));
  for (const file of files) {
    const source = stripTypeScriptTypes(await readFile(join(import.meta.dirname, file), "utf8"));
    const script = source.replaceAll(/(\bfrom\s+"\.[^"]*)\.ts"/g, '$1.js"');
    await writeFile(join(folder, file.replace(/\.ts$/, ".js")), script);
  }
}

export interface HogPodOptions {
  readonly name: string;
  /** The hog's flags. */
  readonly args: readonly string[];
  /** The memory limit, a Kubernetes quantity. */
  readonly limit: string;
  /** @default the limit */
  readonly request?: string;
  /** Whether the memhog-operator monitors it. @default false */
  readonly monitored?: boolean;
  /** @default "Always" */
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
}

/** A pod with one container, `memhog`, that meets the restricted Pod Security Standard. Needs the image, see `loadHog`. */
export function hogPod({ name, args, limit, request = limit, monitored = false, restartPolicy = "Always" }: HogPodOptions) {
  const annotations = monitored ? { "app-monitor.kubedemo.com/monitor": "true" } : {};
  const container = {
    ...{ name: "memhog", image: hogImageName, imagePullPolicy: "IfNotPresent", args },
    resources: { requests: { memory: request }, limits: { memory: limit } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { name }, annotations },
    spec: {
      restartPolicy,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [container],
    },
  };
}
