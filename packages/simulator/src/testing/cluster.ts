// The interface of a cluster for behavior tests. It is a subset of localcluster's TestCluster. A test that needs more (kubectl,
// audit logs, other users) needs real Kubernetes and is named *.real.test.ts.
import type { Client } from "@memhog/runtime";
import type { ClientOptions } from "@memhog/runtime/client";

/** An object that a test writes or reads. */
export interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep into objects whose types they know and we do not
  readonly [field: string]: any;
}

/** The fields that identify an object. A manifest has them too. */
export type Reference = Pick<ClusterObject, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
};

export interface Waiting {
  /** Milliseconds of real time. @default 60_000 */
  readonly timeoutMs?: number;
  /** A description of the awaited condition, for the error message. */
  readonly what?: string;
  readonly signal?: AbortSignal;
}

export interface Cluster extends AsyncDisposable {
  /** Which of the two clusters this is: for messages only. Expectations must not depend on it. */
  readonly is: "simulated" | "real";
  readonly name: string;
  /** The address for clients on this machine. */
  readonly server: string;
  /** For example "1.37.1". */
  readonly version: string;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** The namespace of this test, and of namespaced manifests that name none. */
  readonly defaultNamespace: string;
  /** A typed client with admin permissions. It is closed with the cluster. */
  client(options?: Partial<ClientOptions>): Promise<Client>;
  /** Sends any request: `request("GET", "/readyz")`. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: { readonly contentType?: string }): Promise<T>;
  /** Server-side apply in order, but namespaces and CRDs first. Waits until the resources of a CRD are served. */
  apply(...manifests: readonly object[]): Promise<ClusterObject[]>;
  get<T extends object = ClusterObject>(reference: Reference): Promise<T | undefined>;
  list<T extends object = ClusterObject>(
    kind: Pick<ClusterObject, "apiVersion" | "kind">,
    options?: { readonly namespace?: string; readonly labels?: string },
  ): Promise<readonly T[]>;
  /** Deletes with background propagation. An object that does not exist is not an error. */
  delete(reference: Reference): Promise<void>;
  pod(name: string, namespace?: string): Promise<ClusterObject | undefined>;
  /** Reads until the condition holds. A read that throws is retried. */
  eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options?: Waiting): Promise<T>;
  /** A new namespace in which pods can be created immediately. */
  namespace(): Promise<string>;
  /** The address at which the cluster reaches a server on 127.0.0.1 of this machine, such as a webhook under test. */
  expose(port: number): Promise<{ readonly address: string; readonly port: number }>;
}

/** For tests of command output. They are *.real.test.ts, because `npm test` must not require kubectl. */
export interface ClusterWithKubectl extends Cluster {
  /** Runs the real kubectl as admin in the test's namespace and returns its output. */
  kubectl(...args: readonly string[]): Promise<string>;
}
