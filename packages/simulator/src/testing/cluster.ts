// What a behaviour test has of a cluster, whichever it is. It is a part of localcluster's TestCluster, so a test that needs more
// than this (kubectl, audit logs, other users than the admin) needs real Kubernetes, and is named *.real.test.ts.
import type { Client, ClientOptions } from "@memhog/runtime";

/** What tests write and read. */
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

/** Enough to find an object: a manifest refers to what became of it. */
export type Reference = Pick<ClusterObject, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
};

export interface Waiting {
  /** In milliseconds, of real time. @default 60_000 */
  readonly timeoutMs?: number;
  /** What is waited for, for the message. */
  readonly what?: string;
  readonly signal?: AbortSignal;
}

export interface Cluster extends AsyncDisposable {
  /** Which of the two: for what a test says about it, never for what it expects. */
  readonly is: "simulated" | "real";
  readonly name: string;
  /** For clients on this machine. */
  readonly server: string;
  /** Like "1.37.1". */
  readonly version: string;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** The namespace that is the test's own; also of objects that are namespaced and do not say. */
  readonly defaultNamespace: string;
  /** A typed client as the admin, by the shortest way. It goes with the cluster. */
  client(options?: Partial<ClientOptions>): Promise<Client>;
  /** Any request: `request("GET", "/readyz")`. */
  request<T = unknown>(method: string, path: string, body?: unknown, options?: { readonly contentType?: string }): Promise<T>;
  /** Server-side apply, in order but for namespaces and CRDs, which go first; waits for what a CRD defines to be served. */
  apply(...manifests: readonly object[]): Promise<ClusterObject[]>;
  get<T extends object = ClusterObject>(reference: Reference): Promise<T | undefined>;
  list<T extends object = ClusterObject>(
    kind: Pick<ClusterObject, "apiVersion" | "kind">,
    options?: { readonly namespace?: string; readonly labels?: string },
  ): Promise<readonly T[]>;
  /** Asks for its deletion; what it owns follows in the background. That it is gone already is fine. */
  delete(reference: Reference): Promise<void>;
  pod(name: string, namespace?: string): Promise<ClusterObject | undefined>;
  /** Reads until it holds; a read that throws counts as "not yet". */
  eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean, options?: Waiting): Promise<T>;
  /** A fresh namespace in which pods may be made at once. */
  namespace(): Promise<string>;
  /** Where the cluster reaches a server that listens at 127.0.0.1 of this machine, such as a webhook under test. */
  expose(port: number): Promise<{ readonly address: string; readonly port: number }>;
}

/** For tests of what people see. They are *.real.test.ts: a machine that has only Node has no kubectl. */
export interface ClusterWithKubectl extends Cluster {
  /** Runs the real kubectl, as the admin and in the test's own namespace, and answers with its output. */
  kubectl(...args: readonly string[]): Promise<string>;
}
