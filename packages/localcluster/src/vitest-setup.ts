// vitest's global setup for tests on real Kubernetes: makes sure that the binaries are there before the first test, so that no
// test's time-out pays for a build, and owns the clusters that the workers share (testing.ts).
//
// LOCALCLUSTER_KUBERNETES says which version; the newest unless it is set.
import type { TestProject } from "vitest/node";
import { findBinaries } from "./binaries/binaries.ts";
import type { Cluster } from "./cluster.ts";
import { LocalClusterError } from "./errors.ts";
import { nodeTools, prometheusTools } from "./node/packages.ts";
import { checkNodeIsPossible } from "./node/requirements.ts";
import { type Progress, progressOn } from "./progress.ts";
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
  await prepare(kubernetes, progress);
  const theEnd = new AbortController();
  const starts: Promise<Cluster>[] = [];
  const sharing = await shareClusters(async (nodes) => {
    const options = { ...optionsFor(nodes), progress, signal: theEnd.signal };
    const start = startCluster(options);
    starts.push(start);
    return { name: (await start).name, root: stateRoot() };
  });
  project.provide("localcluster", sharing.socket);
  return async () => {
    await sharing[Symbol.asyncDispose]();
    theEnd.abort(new Error("the test run is over")); // whoever asked for a cluster may have timed out
    const keepLogs = project.vitest.state.getCountOfFailedTests() > 0;
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === "fulfilled") await takeDown(start.value, keepLogs, progress);
    }
  };
}

async function takeDown(cluster: Cluster, keepLogs: boolean, progress: Progress): Promise<void> {
  await cluster.down({ keepLogs });
  if (keepLogs) progress.say(`a test failed; component logs are kept until the next run: ${cluster.logs}`);
}

function optionsFor(nodes: Nodes) {
  return { nodes, audit: true, prometheus: nodes === "real" && { scrapeInterval: "2s" } };
}

/** What takes long the first time, and nothing after that. */
async function prepare(kubernetes: string | undefined, progress: Progress): Promise<void> {
  await findBinaries(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm"], { kubernetes, progress });
  // What a cluster without in-place resize answers is asked in every run, of an API server alone.
  await findBinaries(["etcd", "kube-apiserver"], { kubernetes: "1.32", progress });
  try {
    await checkNodeIsPossible();
    await findBinaries(["kube-scheduler", "kubelet", "kube-proxy"], { kubernetes, progress });
    await nodeTools({ progress });
    await prometheusTools({ progress });
  } catch (error) {
    if (!(error instanceof LocalClusterError)) throw error;
    // Not a reason to run no test at all: those that need a node will fail, and say this once more.
    progress.say(`no real node in this run: ${error.message}`);
  }
}
