// The kubelet, which makes pods of what the API server says.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Component, startComponent } from "../process/component.ts";
import { cgroupRoot } from "./cgroups.ts";
import { containerdSocket } from "./containerd.ts";
import { untilHttpAnswers } from "./inside.ts";
import { nodeAddress } from "./network.ts";
import type { NodeOptions } from "./node.ts";

export async function startKubelet(options: NodeOptions): Promise<Component> {
  const { directory, sandbox, binaries, kubelet, name, signal } = options;
  const settings = join(directory.data, "node");
  await mkdir(settings, { recursive: true });
  const resolvConf = join(settings, "resolv.conf");
  // There is no DNS in this cluster. Without a word on it, containerd would give pods the machine's servers, or fail where
  // /etc/resolv.conf is a link into a /run that the sandbox does not show. At their own address, lookups fail at once.
  await writeFile(resolvConf, "nameserver 127.0.0.1\n");
  const config = join(settings, "kubelet.yaml");
  await writeFile(config, stringify(kubeletConfig(options, resolvConf)));
  return startComponent(
    {
      name: "kubelet",
      place: sandbox,
      argv: [
        binaries.kubelet,
        `--config=${config}`,
        `--kubeconfig=${kubelet.kubeconfig}`,
        `--hostname-override=${name}`,
        `--node-ip=${nodeAddress}`,
        "--v=2",
      ],
      env: sandbox.tools.env,
      ready: (given) => untilHttpAnswers(options, "http://127.0.0.1:10248/healthz", given),
      ...(signal && { signal }),
    },
    directory,
  );
}

function kubeletConfig({ directory, kubelet }: Pick<NodeOptions, "directory" | "kubelet">, resolvConf: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: kubelet.clientCa } },
    authorization: { mode: "Webhook" },
    tlsCertFile: kubelet.servingCertificate,
    tlsPrivateKeyFile: kubelet.servingKey,
    // A subtree of our own, in whichever version of cgroups this machine has.
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroupRoot(directory)}`,
    failCgroupV1: false,
    // Lowering one's own score needs a capability that may be missing.
    oomScoreAdj: 0,
    failSwapOn: false,
    resolvConf,
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    // The machine's disk is not ours to judge, and an image that is removed cannot be pulled again.
    evictionHard: {
      "memory.available": "50Mi",
      "nodefs.available": "1%",
      "nodefs.inodesFree": "1%",
      "imagefs.available": "1%",
      "imagefs.inodesFree": "1%",
    },
    imageGCHighThresholdPercent: 100,
  };
}
