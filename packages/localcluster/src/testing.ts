// The door for tests. One real control plane serves a whole run of vitest; each test has a namespace of its own in it.
//
//     it("keeps three gordons running", async () => {
//       await using cluster = await testCluster();
//       await cluster.apply(gordon);
//       await cluster.eventually(() => cluster.list(pods, { namespace: cluster.defaultNamespace }), (pods) => pods.length === 3);
//     });
//
// What is not in a namespace (CRDs, cluster roles) is shared with the other tests of the run: give it a name that is your own,
// or make it the same everywhere. A test that stops components needs a cluster of its own: startCluster().
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFailed } from "vitest";
import { ClusterAccess, type Connected, connectTo } from "./access.ts";
import { createNamespace, untilPodsMayBeMade } from "./api/namespace.ts";
import { NoNodeError, NoSuchClusterError } from "./errors.ts";
import { loadImage } from "./images/load.ts";
import { openSandbox } from "./node/sandbox.ts";
import { type ClusterDirectory, clusterDirectory } from "./state/directory.ts";
import { type ClusterRecord, hasControllers, readRecord } from "./state/record.ts";
import { askForCluster } from "./testing/shared.ts";

export { backUpEtcd } from "./testing/back-up-etcd.ts";
export { compactEtcd } from "./testing/compact-etcd.ts";
export { startProgram } from "./testing/program.ts";
export { comparable, type ReadmeStep, stepsIn } from "./testing/readme.ts";

export interface TestClusterOptions {
  /** "real" where containers must run; needs root. @default "none" */
  readonly nodes?: "none" | "real";
}

/** A namespace of one's own in the cluster of this run; disposing of it deletes the namespace. */
export async function testCluster({ nodes = "none" }: TestClusterOptions = {}): Promise<TestCluster> {
  const { name, root } = await askForCluster(inject("localcluster"), nodes);
  const directory = clusterDirectory(name, root);
  const record = await readRecord(directory);
  if (record === undefined) throw new NoSuchClusterError(name, []);
  sayWhereLogsAre(directory);
  const connected = await connectTo(directory);
  const namespace = await createNamespace(connected.api);
  await untilPodsMayBeMade(connected.api, namespace, { logs: directory.logs });
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

  constructor({ directory, record, namespace }: Share, connected: Connected) {
    super({ directory, namespace, hasControllers: hasControllers(record), kubernetes: record.askedFor }, connected);
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

  /** Imports an image (a tar: OCI layout or docker save) into the node; answers with its names. */
  async load(tar: string): Promise<readonly string[]> {
    const sandbox = await openSandbox(this.#directory);
    if (sandbox === undefined) throw new NoNodeError(this.name, "loading an image");
    return loadImage({ directory: this.#directory, sandbox }, tar);
  }

  /** Builds an image and imports it; `build` writes it to the path that it is given. */
  async loadBuilt(build: (output: string) => Promise<string>): Promise<readonly string[]> {
    const folder = await mkdtemp(join(tmpdir(), "image-"));
    try {
      return await this.load(await build(join(folder, "image.tar")));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Where the cluster reaches a server that listens at 127.0.0.1 of this machine, such as a webhook under test. */
  async expose(port: number): Promise<{ readonly address: string; readonly port: number }> {
    return (await (await openSandbox(this.#directory))?.expose(port)) ?? { address: "127.0.0.1", port };
  }

  /** Asks for the deletion of its namespaces and does not wait for it: nobody else will use them. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#namespaces) await this.delete({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    this.closeConnections();
  }
}

/** What a test has of the shared cluster: everything but its life and death. */
export type TestCluster = Pick<SharedCluster, keyof SharedCluster>;

function sayWhereLogsAre({ logs }: ClusterDirectory): void {
  try {
    onTestFailed(() => console.error(`component logs: ${logs} (kept until the next run, because a test failed)`));
  } catch {
    // in a hook there is no test that could fail; vitest-setup.ts says it at the end of the run
  }
}
