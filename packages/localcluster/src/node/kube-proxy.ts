// kube-proxy, which makes Services: iptables rules in the sandbox's own network.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Component, startComponent } from "../process/component.ts";
import { untilHttpAnswers } from "./inside.ts";
import { podRange } from "./network.ts";
import type { NodeOptions } from "./node.ts";

export async function startKubeProxy(options: NodeOptions): Promise<Component> {
  const { directory, sandbox, binaries, signal } = options;
  const config = join(directory.data, "node", "kube-proxy.yaml");
  await writeFile(config, stringify(kubeProxyConfig(options)));
  return startComponent(
    {
      name: "kube-proxy",
      place: sandbox,
      argv: [binaries["kube-proxy"], `--config=${config}`, "--v=2"],
      env: sandbox.tools.env,
      ready: (given) => untilHttpAnswers(options, "http://127.0.0.1:10256/healthz", given),
      ...(signal && { signal }),
    },
    directory,
  );
}

function kubeProxyConfig({ name, kubeProxy }: Pick<NodeOptions, "name" | "kubeProxy">): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "iptables",
    clientConnection: { kubeconfig: kubeProxy.kubeconfig },
    hostnameOverride: name,
    clusterCIDR: podRange,
    metricsBindAddress: "127.0.0.1:10249",
    healthzBindAddress: "127.0.0.1:10256",
    oomScoreAdj: 0,
    // All zero: leave the kernel's settings alone. They are the machine's, and some may not be written here at all.
    conntrack: {
      maxPerCore: 0,
      min: 0,
      tcpEstablishedTimeout: "0s",
      tcpCloseWaitTimeout: "0s",
      udpTimeout: "0s",
      udpStreamTimeout: "0s",
    },
  };
}
