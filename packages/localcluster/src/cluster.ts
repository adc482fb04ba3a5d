// A running cluster: ClusterAccess is what anybody with its directory can do, OwnedCluster adds what its owner can do.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type Api, createApi, type RequestOptions, unlessMissing } from "./api/client.ts";
import { type EventuallyOptions, eventually } from "./api/eventually.ts";
import {
  apply,
  createNamespace,
  Discovery,
  type Kind,
  type KubernetesObject,
  objectsOf,
  type Reference,
  waitForDefaultServiceAccount,
} from "./api/objects.ts";
import { findBinaries, findExistingBinary, type SearchOptions } from "./binaries/binaries.ts";
import { writeKubeconfig } from "./control-plane/pki.ts";
import { HelmError, KubectlError, NodeRequiredError, UnknownComponentError } from "./errors.ts";
import { loadImage } from "./node/containerd.ts";
import type { Sandbox } from "./node/sandbox.ts";
import { type Component, startComponent } from "./process/component.ts";
import type { ClusterDirectory } from "./state/directory.ts";
import { type ClusterRecord, hasControllers, writeRecord } from "./state/directory.ts";
import { cleanUp, stopOnExit } from "./state/lifecycle.ts";

export interface ListOptions {
  /** @default all namespaces */
  readonly namespace?: string;
  /** A label selector: `app=web,tier!=db`. */
  readonly labels?: string;
}

export interface AccessOptions {
  readonly directory: ClusterDirectory;
  /** For namespaced objects that do not name one. @default "default" */
  readonly namespace?: string;
  /** Without a controller manager, a new namespace gets no service account to wait for. */
  readonly hasControllers: boolean;
  /** The version that the user asked for; kubectl has the same. */
  readonly kubernetes?: string | undefined;
  /** For LOCALCLUSTER_CACHE and other variables. @default process.env */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Access to a cluster as admin, for its owner and for tests that share it (testing.ts). */
export class ClusterAccess {
  readonly name: string;
  /** For clients on this machine: https://127.0.0.1:PORT */
  readonly server: string;
  /** As the API server reports it: "1.37.1". */
  readonly version: string;
  /** Path of the admin kubeconfig. */
  readonly kubeconfig: string;
  /** The folder with one log file per component. */
  readonly logs: string;
  /** For namespaced objects that do not name one. */
  readonly defaultNamespace: string;
  readonly #api: Api;
  readonly #discovery: Discovery;
  readonly #directory: ClusterDirectory;
  readonly #hasControllers: boolean;
  readonly #search: SearchOptions;

  protected constructor(options: AccessOptions, { api, version }: Connection) {
    this.#api = api;
    this.#discovery = new Discovery(api);
    this.#directory = options.directory;
    this.#hasControllers = options.hasControllers;
    this.#search = { kubernetes: options.kubernetes, env: options.env };
    this.name = options.directory.name;
    this.server = api.server;
    this.version = version;
    this.kubeconfig = options.directory.kubeconfig;
    this.logs = options.directory.logs;
    this.defaultNamespace = options.namespace ?? "default";
  }

  /** Sends any request: `request("GET", "/readyz")`. Rejects with ApiError, which has the HTTP status, or ApiUnreachableError. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.#api.request<T>(method, path, body, options);
  }

  /** Server-side apply of YAML or objects. Waits until applied CRDs are served. Returns the objects as the API server returned them. */
  apply(...manifests: readonly (string | object)[]): Promise<KubernetesObject[]> {
    const context = { api: this.#api, discovery: this.#discovery, namespace: this.defaultNamespace };
    return apply(context, objectsOf(manifests));
  }

  /** The current object, or undefined. A manifest is a reference to its own object. */
  async get<T extends object = KubernetesObject>(reference: Reference): Promise<T | undefined> {
    return unlessMissing(this.#api.request<T>("GET", await this.#pathOf(reference)));
  }

  async list<T extends object = KubernetesObject>(kind: Kind, { namespace, labels }: ListOptions = {}): Promise<readonly T[]> {
    const query = labels === undefined ? "" : `?labelSelector=${encodeURIComponent(labels)}`;
    const path = await this.#discovery.collectionPath(kind, namespace);
    return (await this.#api.request<{ items: readonly T[] }>("GET", path + query)).items;
  }

  /** Deletes an object; what it owns is deleted in the background. Does nothing if it does not exist. */
  async delete(reference: Reference): Promise<void> {
    const path = `${await this.#pathOf(reference)}?propagationPolicy=Background`;
    await unlessMissing(this.#api.request("DELETE", path));
  }

  /** A pod by name. */
  pod(name: string, namespace: string = this.defaultNamespace): Promise<KubernetesObject | undefined> {
    return this.get({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace } });
  }

  /** Reads until the condition holds. On timeout the error has the last value and the path of the logs. */
  eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options: EventuallyOptions = {}): Promise<T> {
    return eventually(read, holds, { logs: this.logs, ...options });
  }

  /** Creates a namespace that is ready for pods. */
  async namespace(): Promise<string> {
    const namespace = await createNamespace(this.#api);
    if (this.#hasControllers) await waitForDefaultServiceAccount(this.#api, namespace, { logs: this.logs });
    return namespace;
  }

  /** Path of a kubectl of the cluster's version. A kubectl on PATH may be another version, or a wrapper. */
  async kubectlPath(): Promise<string> {
    return (await findBinaries(["kubectl"], this.#search)).kubectl;
  }

  /** The same; undefined if it would have to be downloaded or built. */
  findKubectl(): Promise<string | undefined> {
    return findExistingBinary("kubectl", this.#search);
  }

  /** Runs kubectl and returns its stdout. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return this.#run(await this.kubectlPath(), args, (outcome, stderr) => new KubectlError(args, outcome, stderr));
  }

  /** Runs Helm and returns its stdout. */
  async helm(...args: readonly string[]): Promise<string> {
    const { helm } = await findBinaries(["helm"], this.#search);
    return this.#run(helm, args, (outcome, stderr) => new HelmError(args, outcome, stderr));
  }

  #run(program: string, args: readonly string[], failed: (outcome: string, stderr: string) => Error): Promise<string> {
    const argv = [`--kubeconfig=${this.kubeconfig}`, `--namespace=${this.defaultNamespace}`, ...args];
    // HOME is for its cache. Proxy settings are not passed on, because a proxy cannot reach 127.0.0.1.
    const env = { PATH: process.env.PATH, HOME: this.#directory.data };
    return new Promise((done, fail) => {
      execFile(program, argv, { env, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (error === null) done(stdout);
        else fail(failed(error.signal ?? `exit code ${error.code}`, stderr));
      });
    });
  }

  /** Writes a kubeconfig for an existing service account and returns its path. The token is valid for a day. */
  async kubeconfigFor(account: { readonly serviceAccount: string; readonly namespace?: string }): Promise<string> {
    const { serviceAccount, namespace = this.defaultNamespace } = account;
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
    const { status } = await this.#api.request<{ status: { token: string } }>("POST", path, request);
    return writeKubeconfig(join(this.#directory.pki, `${namespace}-${serviceAccount}.kubeconfig`), {
      ...{ name: serviceAccount, namespace, server: this.server },
      ...{ authority: this.#api.authority, user: { token: status.token } },
    });
  }

  protected closeConnections(): void {
    this.#api.close();
  }

  async #pathOf({ apiVersion, kind, metadata }: Reference): Promise<string> {
    const collection = await this.#discovery.collectionPath({ apiVersion, kind }, metadata.namespace ?? this.defaultNamespace);
    return `${collection}/${metadata.name}`;
  }
}

export interface Connection {
  readonly api: Api;
  readonly version: string;
}

/** Connects to the API server of a running cluster. */
export async function connectTo(directory: ClusterDirectory): Promise<Connection> {
  const api = await createApi(directory.kubeconfig);
  const { gitVersion } = await api.request<{ gitVersion: string }>("GET", "/version");
  return { api, version: gitVersion.replace(/^v/, "") };
}

export interface ClusterParts {
  readonly directory: ClusterDirectory;
  readonly record: ClusterRecord;
  /** In the order of their start. */
  readonly components: readonly Component[];
  readonly sandbox: Sandbox | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** A cluster that this process owns: it can stop and start components, and the cluster is removed when the process ends. */
export class OwnedCluster extends ClusterAccess implements AsyncDisposable {
  /** One line of JSON per request, if the cluster was started with `audit`. */
  readonly auditLog?: string;
  /** http://127.0.0.1:PORT, if the cluster was started with `prometheus`. */
  readonly prometheus?: string;
  readonly #parts: ClusterParts;
  readonly #components: Map<string, Component>;
  readonly #exitListeners: Disposable;
  #removed: Promise<void> | undefined;

  /** For start.ts. Users call startCluster(). */
  constructor(parts: ClusterParts, connected: Connection) {
    const { directory, record, env } = parts;
    super({ directory, hasControllers: hasControllers(record), kubernetes: record.requestedVersion, env }, connected);
    this.#parts = parts;
    this.#components = new Map(parts.components.map((component) => [component.name, component]));
    this.#exitListeners = stopOnExit({ ...parts, hasNode: parts.record.nodes === "real", down: () => this.down() });
    if (parts.record.auditLog !== undefined) this.auditLog = parts.record.auditLog;
    if (parts.record.prometheus !== undefined) this.prometheus = parts.record.prometheus;
  }

  /** Stops a component by name (`kube-apiserver`) and keeps its data. Does nothing if it is not running. */
  async stop(component: string): Promise<void> {
    await this.#find(component).stop();
  }

  /** Starts a stopped component again, with the same port and data. Does nothing if it is running. */
  async start(component: string): Promise<void> {
    const stopped = this.#find(component);
    if (stopped.isRunning()) return;
    this.#components.set(component, await startComponent(stopped.spec, this.#parts.directory));
  }

  /** Imports an image (a tar: OCI layout or docker save) into the node and returns its names. */
  async load(tar: string): Promise<readonly string[]> {
    const { directory, sandbox } = this.#parts;
    if (sandbox === undefined) throw new NodeRequiredError(this.name, "loading an image");
    return loadImage({ directory, sandbox }, tar);
  }

  /** Returns where the cluster reaches a server on 127.0.0.1 of this machine, such as a webhook under test. */
  async expose(port: number): Promise<{ readonly address: string; readonly port: number }> {
    return (await this.#parts.sandbox?.expose(port)) ?? { address: "127.0.0.1", port };
  }

  /** Lets the cluster outlive this process; `localcluster down NAME` removes it. `more` is added to its record. */
  async detach(more: Partial<ClusterRecord> = {}): Promise<void> {
    await writeRecord(this.#parts.directory, { ...this.#parts.record, ...more, owner: "detached" });
    this.#exitListeners[Symbol.dispose]();
    this.closeConnections();
  }

  /** Removes the cluster; with `keepLogs`, the logs are kept until the next start. */
  down({ keepLogs = false } = {}): Promise<void> {
    this.#removed ??= this.#remove(keepLogs);
    return this.#removed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  async #remove(keepLogs: boolean): Promise<void> {
    this.closeConnections();
    await cleanUp(this.#parts.directory, { keepLogs });
    this.#exitListeners[Symbol.dispose]();
  }

  #find(name: string): Component {
    const component = this.#components.get(name);
    if (component === undefined) throw new UnknownComponentError(name, [...this.#components.keys()]);
    return component;
  }
}

/** See startCluster(). */
export type Cluster = Pick<OwnedCluster, keyof OwnedCluster>;
