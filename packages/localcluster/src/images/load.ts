import { open } from "node:fs/promises";
import { type NodeHome, runInside } from "../node/inside.ts";

/**
 * Imports an image (a tar: OCI layout or docker save) into the node's containerd; answers with the names it now has.
 * Pods that use it need `imagePullPolicy: IfNotPresent` or `Never`: there is no registry that could be asked.
 */
export async function loadImage(node: NodeHome, tar: string): Promise<readonly string[]> {
  // Through stdin, because the sandbox may have something else at that path.
  await using archive = await open(tar);
  const argv = [node.sandbox.tools.path("ctr"), "--namespace", "k8s.io", "images", "import", "-"];
  const said = await runInside(node, argv, { stdin: archive.fd });
  // containerd 1: "unpacking NAME (sha256:…)...done"; containerd 2: "NAME    saved".
  const names = [...said.matchAll(/^(?:unpacking )?(\S+[:@]\S+)\s+(?:\(sha256:|saved)/gm)].map(([, name]) => name ?? "");
  return [...new Set(names)];
}
