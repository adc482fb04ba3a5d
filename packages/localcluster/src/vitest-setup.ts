// The global setup of vitest for tests on a real Kubernetes: provides the binaries before the first test, so that no test times out
// because of a build, and owns the clusters that workers share (testing.ts). LOCALCLUSTER_KUBERNETES sets the version.
import type { TestProject } from "vitest/node";
import { findBinaries } from "./binaries/binaries.ts";
import type { Cluster } from "./cluster.ts";
import { LocalClusterError } from "./errors.ts";
import { nodeTools, prometheusTools } from "./node/packages.ts";
import { checkNodeRequirements } from "./node/requirements.ts";
import { type Progress, progressOn } from "./progress.ts";
import { startCluster } from "./start.ts";
import { stateRoot } from "./state/directory.ts";
import { type Nodes, shareClusters } from "./testing/shared.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address to request a shared cluster from. */
    localcluster: string | undefined;
  }
}

/** Starts no cluster yet. Returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kubernetes = process.env.LOCALCLUSTER_KUBERNETES || undefined;
  const progress = progressOn();
  await prepare(kubernetes, progress);
  const runIsOver = new AbortController();
  const starts: Promise<Cluster>[] = [];
  const sharing = await shareClusters(async (nodes) => {
    const options = { ...optionsFor(nodes), progress, signal: runIsOver.signal };
    const start = startCluster(options);
    starts.push(start);
    return { name: (await start).name, root: stateRoot() };
  });
  project.provide("localcluster", sharing.socket);
  return async () => {
    await sharing[Symbol.asyncDispose]();
    runIsOver.abort(new Error("the test run is over")); // a start may still be in progress
    const keepLogs = project.vitest.state.getCountOfFailedTests() > 0;
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === "fulfilled") await removeCluster(start.value, keepLogs, progress);
    }
  };
}

async function removeCluster(cluster: Cluster, keepLogs: boolean, progress: Progress): Promise<void> {
  await cluster.down({ keepLogs });
  if (keepLogs) progress.say(`a test failed; component logs are kept until the next run: ${cluster.logs}`);
}

function optionsFor(nodes: Nodes) {
  return { nodes, audit: true, prometheus: nodes === "real" && { scrapeInterval: "2s" } };
}

/** Downloads or builds everything that tests need. */
async function prepare(kubernetes: string | undefined, progress: Progress): Promise<void> {
  await findBinaries(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm"], { kubernetes, progress });
  // Every run also tests against an API server without in-place resize.
  await findBinaries(["etcd", "kube-apiserver"], { kubernetes: "1.32", progress });
  try {
    await checkNodeRequirements();
    await findBinaries(["kube-scheduler", "kubelet", "kube-proxy"], { kubernetes, progress });
    await nodeTools({ progress });
    await prometheusTools({ progress });
  } catch (error) {
    if (!(error instanceof LocalClusterError)) throw error;
    // Tests that need no node can run; the others fail with the same message.
    progress.say(`no real node in this run: ${error.message}`);
  }
}
