// Builds the operator's image without Docker from the file tree that the Dockerfile copies.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, nodeImage } from "@memhog/localcluster";
import { writeOperatorTree } from "../../../../tools/operator-tree.ts";
import { operatorImageName as name } from "./manifests.ts";

/** Builds the image and loads it into the node of the cluster. */
export async function loadOperator(cluster: Pick<Cluster, "load">): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "operator-"));
  const tree = join(folder, "app");
  await writeOperatorTree(tree);
  const entrypoint = ["src/main.js"];
  await cluster.load(await nodeImage({ name, folder: tree, entrypoint, output: join(folder, "image.tar") }));
  await rm(folder, { recursive: true });
}
