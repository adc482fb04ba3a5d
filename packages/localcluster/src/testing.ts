// Entry point for tests. One real control plane serves a whole run of vitest; each test has its own namespace in it.
//
//     it("keeps three gordons running", async () => {
//       await using cluster = await testCluster();
//       await cluster.apply(gordon);
//       await cluster.eventually(() => cluster.list(pods, { namespace: cluster.defaultNamespace }), (pods) => pods.length === 3);
//     });
//
// Cluster-scoped objects (CRDs, cluster roles) are shared with the other tests of the run: use a unique name, or the same object
// everywhere. A test that stops components needs a cluster of its own: startCluster().
import { cp, mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFailed } from "vitest";
import { createNamespace, waitForDefaultServiceAccount } from "./api/objects.ts";
import { ClusterAccess, type Connection, connectTo } from "./cluster.ts";
import { ClusterNotFoundError, LocalClusterError, NodeRequiredError } from "./errors.ts";
import { loadImage } from "./node/containerd.ts";
import { openSandbox } from "./node/sandbox.ts";
import { type ClusterDirectory, type ClusterRecord, clusterDirectory, hasControllers, readRecord } from "./state/directory.ts";
import { requestCluster } from "./testing/shared.ts";

export { comparable, type ReadmeStep, startProgram, stepsIn } from "./testing/readme.ts";

export interface TestClusterOptions {
  /** "real" where containers must run; needs root. @default "none" */
  readonly nodes?: "none" | "real";
}

/** The shared cluster, with a namespace of its own for the caller. Disposing deletes the namespace. */
export async function testCluster({ nodes = "none" }: TestClusterOptions = {}): Promise<TestCluster> {
  const { name, root } = await requestCluster(inject("localcluster"), nodes);
  const directory = clusterDirectory(name, root);
  const record = await readRecord(directory);
  if (record === undefined) throw new ClusterNotFoundError(name, []);
  printLogsOnFailure(directory);
  const connected = await connectTo(directory);
  const namespace = await createNamespace(connected.api);
  await waitForDefaultServiceAccount(connected.api, namespace, { logs: directory.logs });
  return new SharedCluster({ directory, record, namespace }, connected);
}

interface Share {
  readonly directory: ClusterDirectory;
  readonly record: ClusterRecord;
  readonly namespace: string;
}

class SharedCluster extends ClusterAccess implements AsyncDisposable {
  /** One line of JSON per request, of all tests of the run. */
  readonly auditLog?: string;
  /** http://127.0.0.1:PORT, with nodes: "real". */
  readonly prometheus?: string;
  readonly #directory: ClusterDirectory;
  readonly #namespaces: string[];

  constructor({ directory, record, namespace }: Share, connected: Connection) {
    super({ directory, namespace, hasControllers: hasControllers(record), kubernetes: record.requestedVersion }, connected);
    this.#directory = directory;
    this.#namespaces = [namespace];
    if (record.auditLog !== undefined) this.auditLog = record.auditLog;
    if (record.prometheus !== undefined) this.prometheus = record.prometheus;
  }

  override async namespace(): Promise<string> {
    const namespace = await super.namespace();
    this.#namespaces.push(namespace);
    return namespace;
  }

  /** Imports an image (a tar: OCI layout or docker save) into the node and returns its names. */
  async load(tar: string): Promise<readonly string[]> {
    const sandbox = await openSandbox(this.#directory);
    if (sandbox === undefined) throw new NodeRequiredError(this.name, "loading an image");
    return loadImage({ directory: this.#directory, sandbox }, tar);
  }

  /** Builds an image and imports it; `build` writes it to the given path. */
  async loadBuilt(build: (output: string) => Promise<string>): Promise<readonly string[]> {
    const folder = await mkdtemp(join(tmpdir(), "image-"));
    try {
      return await this.load(await build(join(folder, "image.tar")));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Returns where the cluster reaches a server on 127.0.0.1 of this machine, such as a webhook under test. */
  async expose(port: number): Promise<{ readonly address: string; readonly port: number }> {
    return (await (await openSandbox(this.#directory))?.expose(port)) ?? { address: "127.0.0.1", port };
  }

  /** Deletes its namespaces without waiting for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#namespaces) await this.delete({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    this.closeConnections();
  }
}

/** A shared cluster, without the methods of its owner. */
export type TestCluster = Pick<SharedCluster, keyof SharedCluster>;

function printLogsOnFailure({ logs }: ClusterDirectory): void {
  try {
    onTestFailed(() => console.error(`component logs: ${logs} (kept until the next run, because a test failed)`));
  } catch {
    // in a hook there is no test; vitest-setup.ts prints the path at the end of the run
  }
}

/**
 * Copies the data of etcd and returns a function that restores it, as from a backup. etcd must be stopped for both. Only for a
 * cluster that the test owns.
 */
export async function backUpEtcd({ name }: { readonly name: string }): Promise<() => Promise<void>> {
  const { data } = clusterDirectory(name);
  const [original, copy] = [join(data, "etcd"), join(data, "etcd-backup")];
  await cp(original, copy, { recursive: true });
  return async () => {
    await rm(original, { recursive: true });
    await cp(copy, original, { recursive: true });
  };
}

/**
 * Compacts etcd up to a resourceVersion, as the API server does every five minutes. A running API server still serves part of the
 * history from its cache until it is restarted. Only for a cluster that the test owns.
 */
export function compactEtcd({ name }: { readonly name: string }, resourceVersion: string): Promise<void> {
  const socketPath = join(clusterDirectory(name).run, "etcd");
  return new Promise((done, fail) => {
    const outgoing = request({ socketPath, path: "/v3/kv/compaction", method: "POST", agent: false }, async (response) => {
      const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
      if (response.statusCode === 200) done();
      else fail(new LocalClusterError("ETCD_COMPACTION", `expected etcd to compact, found ${response.statusCode}: ${text}`));
    });
    outgoing.on("error", fail);
    outgoing.end(JSON.stringify({ revision: resourceVersion, physical: true }));
  });
}
