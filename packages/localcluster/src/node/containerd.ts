// containerd, which runs the containers, and the network it gives to pods.
//
// Pods are wired point to point: a pair of virtual cards each, and a route. A bridge would do as well, except that two pods
// that meet on a bridge answer each other directly, past the iptables rules that must turn a Service's address back, unless the
// kernel is told to filter bridges too; and that is a setting of the machine.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Component, startComponent } from "../process/component.ts";
import { type NodeHome, runInside, succeeds } from "./inside.ts";
import { podRange } from "./network.ts";
import { pauseImage } from "./pause.ts";
import { until } from "./until.ts";

/** Inside, where every node has it; the sandbox sees to it that this is the cluster's own. */
export const containerdSocket = "/run/containerd/containerd.sock";

export interface ContainerdOptions extends NodeHome {
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
      place: sandbox,
      argv: [tools.path("containerd"), "--config", config],
      env: tools.env,
      ready: (given) => until(() => succeeds(runInside(node, version)), { signal: given }),
      ...(signal && { signal }),
    },
    directory,
  );
}

function containerdConfig(where: { readonly networks: string; readonly plugins: string; readonly snapshotter: string }): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
# Otherwise containerd makes /opt/containerd.
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[grpc]
  address = ${JSON.stringify(containerdSocket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${JSON.stringify(pauseImage)}
  # Without CAP_SYS_RESOURCE a process may not lower its score, and a container that asks for it would not start. With it, a
  # container would be better protected from the OOM killer than its owner's editor: nobody wants that from a test.
  restrict_oom_score_adj = true
  disable_apparmor = true
  # Otherwise every pod leaves a file in the machine's /var/run/netns.
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
      // A pod's default route leads to the node, and the node has none: what is neither pod nor Service ends there.
      ipam: { type: "host-local", ranges: [[{ subnet: podRange }]], routes: [{ dst: "0.0.0.0/0" }], dataDir: "/run/cni" },
    },
  ],
};

/** An overlay cannot stand on every file system: not on another overlay, for one, which is what a container's root often is. */
async function overlayWorks(node: NodeHome): Promise<boolean> {
  const trial = `
    set -e; cd /var/lib/containerd; mkdir -p trial/lower trial/upper trial/work trial/merged; cd trial
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged; : >merged/file; umount merged; rm -r ../trial`;
  return succeeds(runInside(node, ["sh", "-c", trial]));
}
