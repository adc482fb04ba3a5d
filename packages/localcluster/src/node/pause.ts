// Every pod has a first container that does nothing: it holds the pod's namespaces while others come and go. Kubernetes' own is
// in a registry that may not be reachable; a shell that waits does the same.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { loadImage } from "../images/load.ts";
import { fullName } from "../images/name.ts";
import { busyboxImage } from "../images/programs.ts";
import type { NodeHome } from "./inside.ts";

export const pauseImage = fullName("localcluster/pause:1");

export async function loadPauseImage(node: NodeHome): Promise<void> {
  const output = join(node.directory.tmp, "pause.tar");
  const busybox = node.sandbox.tools.path("busybox");
  // It waits for children too: in a pod that shares its process namespace, orphans come to it.
  const entrypoint = ["/bin/sh", "-c", 'trap "exit 0" TERM; while :; do sleep 2147483647 & wait; done'];
  await busyboxImage({ name: pauseImage, busybox, entrypoint, command: [], output });
  await loadImage(node, output);
  await rm(output);
}
