// The simulator and the real kubectl, which talks to it as to any other cluster.
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { testCluster as realCluster } from "@memhog/localcluster/testing";
import type { ClusterWithKubectl } from "./cluster.ts";
import { openCluster as openSimulated } from "./simulated-cluster.ts";

export async function openCluster(): Promise<ClusterWithKubectl> {
  const program = await pathOfKubectl();
  const simulated = await openSimulated();
  const { kubeconfig, defaultNamespace } = simulated;
  // Its cache goes into our folder, and goes with it.
  const env = { PATH: process.env.PATH, HOME: dirname(kubeconfig) };
  const kubectl = async (...args: readonly string[]) => {
    const whole = [`--kubeconfig=${kubeconfig}`, `--namespace=${defaultNamespace}`, ...args];
    const running = promisify(execFile)(program, whole, { env });
    running.child.stdin?.end(); // whatever it would like to be told, nobody is there
    return (await running).stdout;
  };
  return { ...simulated, kubectl };
}

async function pathOfKubectl(): Promise<string> {
  await using real = await realCluster();
  return real.kubectlPath();
}
