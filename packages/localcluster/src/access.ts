// What can be done with a cluster by whoever can reach it: its owner (cluster.ts), or a test that shares it with others
// (testing.ts). Everything goes through the API server as the admin.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { apply } from "./api/apply.ts";
import { type Api, apiFrom, type RequestOptions, unlessMissing } from "./api/client.ts";
import { Discovery, type Kind } from "./api/discovery.ts";
import { type EventuallyOptions, eventually } from "./api/eventually.ts";
import { createNamespace, untilPodsMayBeMade } from "./api/namespace.ts";
import { type KubernetesObject, objectsOf, type Reference } from "./api/objects.ts";
import { findBinaries, findMade, type SearchOptions } from "./binaries/binaries.ts";
import { writeKubeconfig } from "./control-plane/kubeconfig.ts";
import { HelmError, KubectlError } from "./errors.ts";
import type { ClusterDirectory } from "./state/directory.ts";

export interface ListOptions {
  /** One namespace only. @default all of them */
  readonly namespace?: string;
  /** A label selector: `app=web,tier!=db`. */
  readonly labels?: string;
}

export interface AccessOptions {
  readonly directory: ClusterDirectory;
  /** Where objects are that are namespaced and do not say. @default "default" */
  readonly namespace?: string;
  /** Without a controller manager nobody makes service accounts or clears a namespace, so nobody should wait for it. */
  readonly hasControllers: boolean;
  /** The version that was asked for, if one was: kubectl is to be of the same. */
  readonly kubernetes?: string | undefined;
  /** Where LOCALCLUSTER_CACHE and the like come from. @default process.env */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export class ClusterAccess {
  readonly name: string;
  /** For clients on this machine: https://127.0.0.1:PORT */
  readonly server: string;
  /** What the API server says it is: "1.37.1". */
  readonly version: string;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** The folder with a log file per component. */
  readonly logs: string;
  /** Where objects are that are namespaced and do not say. */
  readonly defaultNamespace: string;
  readonly #api: Api;
  readonly #discovery: Discovery;
  readonly #directory: ClusterDirectory;
  readonly #hasControllers: boolean;
  readonly #search: SearchOptions;

  protected constructor(options: AccessOptions, { api, version }: Connected) {
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

  /** Any request: `request("GET", "/readyz")`. Rejects with ApiError, which has the HTTP status, or ApiUnreachableError. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.#api.request<T>(method, path, body, options);
  }

  /** Server-side apply of YAML or objects. Waits for a CRD it applies to be served. Answers with what the server made of them. */
  apply(...manifests: readonly (string | object)[]): Promise<KubernetesObject[]> {
    const context = { api: this.#api, discovery: this.#discovery, namespace: this.defaultNamespace };
    return apply(context, objectsOf(manifests));
  }

  /** The object as it is now, or undefined. A manifest is a good reference to what became of it. */
  async get<T extends object = KubernetesObject>(reference: Reference): Promise<T | undefined> {
    return unlessMissing(this.#api.request<T>("GET", await this.#pathOf(reference)));
  }

  async list<T extends object = KubernetesObject>(kind: Kind, { namespace, labels }: ListOptions = {}): Promise<readonly T[]> {
    const query = labels === undefined ? "" : `?labelSelector=${encodeURIComponent(labels)}`;
    const path = await this.#discovery.collectionPath(kind, namespace);
    return (await this.#api.request<{ items: readonly T[] }>("GET", path + query)).items;
  }

  /** Asks for its deletion; what it owns follows in the background. That it is gone already is fine. */
  async delete(reference: Reference): Promise<void> {
    const path = `${await this.#pathOf(reference)}?propagationPolicy=Background`;
    await unlessMissing(this.#api.request("DELETE", path));
  }

  /** A pod by name, which is what tests ask for most. */
  pod(name: string, namespace: string = this.defaultNamespace): Promise<KubernetesObject | undefined> {
    return this.get({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace } });
  }

  /** Reads until it holds; on time-out says what was seen last and where the logs are. */
  eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options: EventuallyOptions = {}): Promise<T> {
    return eventually(read, holds, { logs: this.logs, ...options });
  }

  /** A fresh namespace in which pods may be made at once. */
  async namespace(): Promise<string> {
    const namespace = await createNamespace(this.#api);
    if (this.#hasControllers) await untilPodsMayBeMade(this.#api, namespace, { logs: this.logs });
    return namespace;
  }

  /** Path of our own kubectl, of the cluster's version. A kubectl on PATH may be any version, or somebody's wrapper. */
  async kubectlPath(): Promise<string> {
    return (await findBinaries(["kubectl"], this.#search)).kubectl;
  }

  /** The same, if it is there already; undefined if it would have to be downloaded or built. */
  findKubectl(): Promise<string | undefined> {
    return findMade("kubectl", this.#search);
  }

  /** Runs our own kubectl and answers with its output. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return this.#run(await this.kubectlPath(), args, (outcome, stderr) => new KubectlError(args, outcome, stderr));
  }

  /** Runs our own Helm and answers with its output. Only those who call this wait for a Helm to be made. */
  async helm(...args: readonly string[]): Promise<string> {
    const { helm } = await findBinaries(["helm"], this.#search);
    return this.#run(helm, args, (outcome, stderr) => new HelmError(args, outcome, stderr));
  }

  #run(program: string, args: readonly string[], failed: (outcome: string, stderr: string) => Error): Promise<string> {
    const argv = [`--kubeconfig=${this.kubeconfig}`, `--namespace=${this.defaultNamespace}`, ...args];
    // Its cache goes into our folder, and goes with it. A proxy could not reach 127.0.0.1, so nothing of the kind is passed on.
    const env = { PATH: process.env.PATH, HOME: this.#directory.data };
    return new Promise((done, fail) => {
      execFile(program, argv, { env, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (error === null) done(stdout);
        else fail(failed(error.signal ?? `exit code ${error.code}`, stderr));
      });
    });
  }

  /** Path of a kubeconfig for an existing service account: what it may do is what RBAC says. Its token is good for a day. */
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

export interface Connected {
  readonly api: Api;
  readonly version: string;
}

/** Connects to the API server of a cluster that runs. */
export async function connectTo(directory: ClusterDirectory): Promise<Connected> {
  const api = await apiFrom(directory.kubeconfig);
  const { gitVersion } = await api.request<{ gitVersion: string }>("GET", "/version");
  return { api, version: gitVersion.replace(/^v/, "") };
}
