// A cluster that this process owns: it can be used (access.ts), its components can be stopped and started again to see what
// that does to others, and it ends when its owner says so or ends.
import { ClusterAccess, type Connected } from "./access.ts";
import { NoNodeError, UnknownComponentError } from "./errors.ts";
import { loadImage } from "./images/load.ts";
import type { Sandbox } from "./node/sandbox.ts";
import { type Component, startComponent } from "./process/component.ts";
import type { ClusterDirectory } from "./state/directory.ts";
import { tieToThisProcess } from "./state/owner.ts";
import { reap } from "./state/reap.ts";
import { type ClusterRecord, hasControllers, writeRecord } from "./state/record.ts";

export interface ClusterParts {
  readonly directory: ClusterDirectory;
  readonly record: ClusterRecord;
  /** In the order of their start. */
  readonly components: readonly Component[];
  readonly sandbox: Sandbox | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export class OwnedCluster extends ClusterAccess implements AsyncDisposable {
  /** One line of JSON per request, if the cluster was started with `audit`. */
  readonly auditLog?: string;
  /** http://127.0.0.1:PORT, if the cluster was started with `prometheus`. */
  readonly prometheus?: string;
  readonly #parts: ClusterParts;
  readonly #components: Map<string, Component>;
  readonly #tie: Disposable;
  #gone: Promise<void> | undefined;

  /** For start.ts; users call startCluster(). */
  constructor(parts: ClusterParts, connected: Connected) {
    const { directory, record, env } = parts;
    super({ directory, hasControllers: hasControllers(record), kubernetes: record.askedFor, env }, connected);
    this.#parts = parts;
    this.#components = new Map(parts.components.map((component) => [component.name, component]));
    this.#tie = tieToThisProcess({ ...parts, hasNode: parts.record.nodes === "real", down: () => this.down() });
    if (parts.record.auditLog !== undefined) this.auditLog = parts.record.auditLog;
    if (parts.record.prometheus !== undefined) this.prometheus = parts.record.prometheus;
  }

  /** Stops a component by its name (`kube-apiserver`), as if it had failed; its data stays. Harmless if it is not running. */
  async stop(component: string): Promise<void> {
    await this.#find(component).stop();
  }

  /** Starts a stopped component again, on the same port and the same data. Harmless if it is running. */
  async start(component: string): Promise<void> {
    const stopped = this.#find(component);
    if (stopped.isRunning()) return;
    this.#components.set(component, await startComponent(stopped.spec, this.#parts.directory));
  }

  /** Imports an image (a tar: OCI layout or docker save) into the node; answers with its names. */
  async load(tar: string): Promise<readonly string[]> {
    const { directory, sandbox } = this.#parts;
    if (sandbox === undefined) throw new NoNodeError(this.name, "loading an image");
    return loadImage({ directory, sandbox }, tar);
  }

  /** Where the cluster reaches a server that listens at 127.0.0.1 of this machine, such as a webhook under test. */
  async expose(port: number): Promise<{ readonly address: string; readonly port: number }> {
    return (await this.#parts.sandbox?.expose(port)) ?? { address: "127.0.0.1", port };
  }

  /** Lets it run when this process ends; `localcluster down NAME` ends it. `more` is written down with it. */
  async detach(more: Partial<ClusterRecord> = {}): Promise<void> {
    await writeRecord(this.#parts.directory, { ...this.#parts.record, ...more, owner: "detached" });
    this.#tie[Symbol.dispose]();
    this.closeConnections();
  }

  /** Ends it and removes every trace; of the logs only if they are of no use to anybody. */
  down({ keepLogs = false } = {}): Promise<void> {
    this.#gone ??= this.#takeDown(keepLogs);
    return this.#gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  async #takeDown(keepLogs: boolean): Promise<void> {
    this.closeConnections();
    await reap(this.#parts.directory, { keepLogs });
    this.#tie[Symbol.dispose]();
  }

  #find(name: string): Component {
    const component = this.#components.get(name);
    if (component === undefined) throw new UnknownComponentError(name, [...this.#components.keys()]);
    return component;
  }
}

/** What the owner of a cluster has; see startCluster(). */
export type Cluster = Pick<OwnedCluster, keyof OwnedCluster>;
