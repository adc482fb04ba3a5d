// containerd, which runs the containers; the network of the pods; and loading images.
//
// Each pod has a pair of virtual network devices and a route. On a bridge, two pods would answer each other directly, past the
// iptables rules that translate a Service's address back, unless the kernel filters bridges too, which is a setting of the machine.
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fullName } from "../images/image.ts";
import { busyboxImage } from "../images/programs.ts";
import { type Component, startComponent } from "../process/component.ts";
import { waitUntil } from "../process/probe.ts";
import { podRange } from "./network.ts";
import { runInside, type SandboxedCluster, succeeds } from "./sandbox.ts";

/** The usual path; in the sandbox it belongs to the cluster. */
export const containerdSocket = "/run/containerd/containerd.sock";

export interface ContainerdOptions extends SandboxedCluster {
  readonly signal?: AbortSignal | undefined;
}

export async function startContainerd({ signal, ...node }: ContainerdOptions): Promise<Component> {
  const { directory, sandbox } = node;
  const { tools } = sandbox;
  const version = [tools.path("ctr"), "version"];
  const settings = join(directory.data, "node");
  const networks = join(settings, "cni");
  await mkdir(networks, { recursive: true });
  await writeFile(join(networks, "10-pods.conflist"), `${JSON.stringify(podNetwork, undefined, 2)}\n`);
  const config = join(settings, "containerd.toml");
  const snapshotter = (await overlayWorks(node)) ? "overlayfs" : "native";
  await writeFile(config, containerdConfig({ networks, plugins: dirname(tools.path("ptp")), snapshotter }));
  return startComponent(
    {
      name: "containerd",
      context: sandbox,
      argv: [tools.path("containerd"), "--config", config],
      env: tools.env,
      ready: (started) => waitUntil(() => succeeds(runInside(node, version)), started),
      signal,
    },
    directory,
  );
}

function containerdConfig(where: { readonly networks: string; readonly plugins: string; readonly snapshotter: string }): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
# Otherwise containerd creates /opt/containerd.
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[grpc]
  address = ${JSON.stringify(containerdSocket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${JSON.stringify(pauseImage)}
  # Without CAP_SYS_RESOURCE a process cannot lower its score, and a container that asks for it would not start. With it, a
  # container of a test would be better protected from the OOM killer than the other programs of the machine.
  restrict_oom_score_adj = true
  disable_apparmor = true
  # Otherwise every pod leaves a file in /var/run/netns.
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${JSON.stringify(where.plugins)}
    conf_dir = ${JSON.stringify(where.networks)}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${JSON.stringify(where.snapshotter)}
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}

const podNetwork = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "ptp",
      // The default route of a pod leads to the node, which has none: packets to anything but pods and Services end there.
      ipam: { type: "host-local", ranges: [[{ subnet: podRange }]], routes: [{ dst: "0.0.0.0/0" }], dataDir: "/run/cni" },
    },
  ],
};

/** An overlay cannot be mounted on every file system; not on another overlay, which the root of a container often is. */
async function overlayWorks(node: SandboxedCluster): Promise<boolean> {
  const trial = `
    set -e; cd /var/lib/containerd; mkdir -p trial/lower trial/upper trial/work trial/merged; cd trial
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged; : >merged/file; umount merged; rm -r ../trial`;
  return succeeds(runInside(node, ["sh", "-c", trial]));
}

/**
 * Imports an image (a tar: OCI layout or docker save) into the node and returns the names it has there. Pods that use it need
 * `imagePullPolicy: IfNotPresent` or `Never`, because there is no registry.
 */
export async function loadImage(node: SandboxedCluster, tar: string): Promise<readonly string[]> {
  // Through stdin, because the path may not exist in the sandbox.
  await using archive = await open(tar);
  const argv = [node.sandbox.tools.path("ctr"), "--namespace", "k8s.io", "images", "import", "-"];
  const output = await runInside(node, argv, { stdin: archive.fd });
  // containerd 1: "unpacking NAME (sha256:…)...done"; containerd 2: "NAME    saved".
  const names = [...output.matchAll(/^(?:unpacking )?(\S+[:@]\S+)\s+(?:\(sha256:|saved)/gm)].map(([, name]) => name ?? "");
  return [...new Set(names)];
}

/**
 * The pause container of a pod holds its namespaces while other containers come and go. The usual image is in a registry that may
 * not be reachable; a shell that waits does the same.
 */
const pauseImage = fullName("localcluster/pause:1");

export async function loadPauseImage(node: SandboxedCluster): Promise<void> {
  const output = join(node.directory.tmp, "pause.tar");
  const busybox = node.sandbox.tools.path("busybox");
  // It also collects exited children: with a shared process namespace it is the parent of orphans.
  const entrypoint = ["/bin/sh", "-c", 'trap "exit 0" TERM; while :; do sleep 2147483647 & wait; done'];
  await busyboxImage({ name: pauseImage, busybox, entrypoint, command: [], output });
  await loadImage(node, output);
  await rm(output);
}
