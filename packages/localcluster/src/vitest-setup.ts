// vitest's global setup for tests on real Kubernetes: makes sure that the binaries are there before the first test, so that no
// test's time-out pays for a build, and owns the clusters that the workers share (testing.ts).
//
// LOCALCLUSTER_KUBERNETES says which version; the newest unless it is set.
import type { TestProject } from "vitest/node";
import { type BinaryName, findBinaries } from "./binaries/binaries.ts";
import type { Cluster } from "./cluster.ts";
import { checkNodeIsPossible } from "./node/requirements.ts";
import { progressOn } from "./progress.ts";
import { startCluster } from "./start.ts";
import { stateRoot } from "./state/directory.ts";
import { type Nodes, shareClusters } from "./testing/shared.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where to ask for a shared cluster. */
    localcluster: string | undefined;
  }
}

/** Starts nothing but the sharing; answers with what vitest is to call at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kubernetes = process.env.LOCALCLUSTER_KUBERNETES || undefined;
  const progress = progressOn();
  await findBinaries(await neededBinaries(), { kubernetes, progress });
  const clusters: Cluster[] = [];
  const sharing = await shareClusters(async (nodes) => {
    const cluster = await startCluster({ ...optionsFor(nodes), progress, ...(kubernetes && { kubernetes }) });
    clusters.push(cluster);
    return { name: cluster.name, root: stateRoot() };
  });
  project.provide("localcluster", sharing.socket);
  return async () => {
    await sharing[Symbol.asyncDispose]();
    const keepLogs = project.vitest.state.getCountOfFailedTests() > 0;
    for (const cluster of clusters) {
      await cluster.down({ keepLogs });
      if (keepLogs) progress.say(`a test failed; component logs are kept until the next run: ${cluster.logs}`);
    }
  };
}

function optionsFor(nodes: Nodes) {
  return { nodes, audit: true, prometheus: nodes === "real" && { scrapeInterval: "2s" } };
}

async function neededBinaries(): Promise<readonly BinaryName[]> {
  const always: readonly BinaryName[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"];
  try {
    await checkNodeIsPossible();
    return [...always, "kube-scheduler", "kubelet", "kube-proxy"];
  } catch {
    return always; // tests that need a node will say why there is none
  }
}
