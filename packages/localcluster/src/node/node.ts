// A real node in a sandbox: containerd, kubelet and kube-proxy, so that pods are processes in cgroups with real limits; and a
// Prometheus that scrapes it, if asked for.
//
//     sandbox.ts      the namespaces of the cluster, and why                requirements.ts   what the machine must offer
//     port-forwarding.ts, forwarder.ts   single ports in and out            packages.ts       programs from Debian packages
//     containerd.ts   containers, their network, images                     cgroups.ts        what limits the containers
//     network.ts      the addresses inside                                  prometheus.ts
//
// There is no cluster DNS. Pods find Services by address or by the environment variables that the kubelet sets; the API server is
// at KUBERNETES_SERVICE_HOST, as client libraries expect.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Api } from "../api/client.ts";
import { eventually } from "../api/eventually.ts";
import { isConditionTrue, type KubernetesObject } from "../api/objects.ts";
import type { BinaryPaths } from "../binaries/binaries.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { type Component, startComponent } from "../process/component.ts";
import type { Progress } from "../progress.ts";
import { cgroupRoot, createCgroups } from "./cgroups.ts";
import { containerdSocket, loadPauseImage, startContainerd } from "./containerd.ts";
import { nodeAddress, podRange } from "./network.ts";
import { startPrometheus } from "./prometheus.ts";
import { type SandboxedCluster, waitForHttp } from "./sandbox.ts";

export interface NodeOptions extends SandboxedCluster {
  readonly binaries: BinaryPaths;
  readonly controlPlane: ControlPlane;
  readonly api: Api;
  /** A Prometheus duration; without it there is no Prometheus. */
  readonly scrapeInterval: string | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface StartedNode {
  /** In the order of their start. */
  readonly components: readonly Component[];
  /** The URL for clients on the host. */
  readonly prometheus?: string;
}

const nodeName = "node-1";

/** Resolves when the node is Ready and Prometheus answers. */
export async function startNode(options: NodeOptions): Promise<StartedNode> {
  const { directory, sandbox, scrapeInterval, controlPlane, signal } = options;
  await mkdir(join(directory.data, "node"), { recursive: true });
  await createCgroups(directory);
  const containerd = await startContainerd({ directory, sandbox, signal });
  await loadPauseImage(options);
  const [kubelet, kubeProxy] = await Promise.all([startKubelet(options), startKubeProxy(options)]);
  const components = [containerd, kubelet, kubeProxy];
  if (scrapeInterval === undefined) {
    await waitForNode(options);
    return { components };
  }
  const { pki } = controlPlane;
  const files = await pki.issue("prometheus", { commonName: "prometheus", organizations: ["system:masters"] });
  const credentials = { ca: pki.authorityFiles.certificate, ...files };
  const prometheus = await startPrometheus({ ...options, nodeName, scrapeInterval, credentials });
  await waitForNode(options);
  return { components: [...components, prometheus.component], prometheus: prometheus.url };
}

async function waitForNode({ api, directory, signal }: NodeOptions): Promise<void> {
  const read = () => api.request<KubernetesObject>("GET", `/api/v1/nodes/${nodeName}`);
  const what = `${nodeName} is Ready`;
  await eventually(read, (node) => isConditionTrue(node, "Ready"), { what, logs: directory.logs, timeoutMs: 120_000, signal });
}

async function startKubelet(options: NodeOptions): Promise<Component> {
  const { directory, sandbox, binaries, controlPlane, signal } = options;
  const user = { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] };
  const serving = await controlPlane.pki.issue("kubelet-serving", { ...user, hosts: [nodeName, nodeAddress] });
  const kubeconfig = await controlPlane.kubeconfigInside("kubelet", user);
  const settings = join(directory.data, "node");
  // There is no cluster DNS. With the host's resolv.conf, pods would get name servers that they cannot reach; with this one a lookup
  // fails at once.
  const resolvConf = join(settings, "resolv.conf");
  await writeFile(resolvConf, "nameserver 127.0.0.1\n");
  const config = join(settings, "kubelet.yaml");
  await writeFile(
    config,
    stringify({
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      containerRuntimeEndpoint: `unix://${containerdSocket}`,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: controlPlane.pki.authorityFiles.certificate },
      },
      authorization: { mode: "Webhook" },
      tlsCertFile: serving.certificate,
      tlsPrivateKeyFile: serving.key,
      // A subtree of our own, in whichever version of cgroups the machine has.
      cgroupDriver: "cgroupfs",
      cgroupRoot: `/${cgroupRoot(directory)}`,
      failCgroupV1: false,
      // Lowering the score needs a capability that may be missing.
      oomScoreAdj: 0,
      failSwapOn: false,
      resolvConf,
      volumePluginDir: "/var/lib/kubelet/volume-plugins",
      // A full disk of the machine is no reason to evict pods, and an image that is removed cannot be pulled again.
      evictionHard: {
        "memory.available": "50Mi",
        "nodefs.available": "1%",
        "nodefs.inodesFree": "1%",
        "imagefs.available": "1%",
        "imagefs.inodesFree": "1%",
      },
      imageGCHighThresholdPercent: 100,
    }),
  );
  const flags = [
    `--config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ];
  return startComponent(
    {
      name: "kubelet",
      context: sandbox,
      argv: [binaries.kubelet ?? "", ...flags, "--v=2"],
      env: sandbox.tools.env,
      ready: (started) => waitForHttp(options, "http://127.0.0.1:10248/healthz", started),
      signal,
    },
    directory,
  );
}

/** Implements Services by iptables rules in the network of the sandbox. */
async function startKubeProxy(options: NodeOptions): Promise<Component> {
  const { directory, sandbox, binaries, controlPlane, signal } = options;
  const kubeconfig = await controlPlane.kubeconfigInside("kube-proxy", { commonName: "system:kube-proxy" });
  const config = join(directory.data, "node", "kube-proxy.yaml");
  await writeFile(
    config,
    stringify({
      apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
      kind: "KubeProxyConfiguration",
      mode: "iptables",
      clientConnection: { kubeconfig },
      hostnameOverride: nodeName,
      clusterCIDR: podRange,
      metricsBindAddress: "127.0.0.1:10249",
      healthzBindAddress: "127.0.0.1:10256",
      oomScoreAdj: 0,
      // Zero leaves the kernel's settings alone. They are the machine's, and some cannot be written in a sandbox.
      conntrack: {
        maxPerCore: 0,
        min: 0,
        tcpEstablishedTimeout: "0s",
        tcpCloseWaitTimeout: "0s",
        udpTimeout: "0s",
        udpStreamTimeout: "0s",
      },
    }),
  );
  return startComponent(
    {
      name: "kube-proxy",
      context: sandbox,
      argv: [binaries["kube-proxy"] ?? "", `--config=${config}`, "--v=2"],
      env: sandbox.tools.env,
      ready: (started) => waitForHttp(options, "http://127.0.0.1:10256/healthz", started),
      signal,
    },
    directory,
  );
}
