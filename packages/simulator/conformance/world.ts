// One cluster and one namespace for all tests of a file, because a real namespace takes a second to create. Each test uses names of
// its own (`here.name()`), so tests do not see each other's objects.
//
// Types are loose on purpose: tests send objects that no type allows.
import { ApiError, type Client, type Kind, type KubernetesObject, type ObjectRef, refOf, type Stored } from "@memhog/runtime";
import { afterAll, beforeAll } from "vitest";
import { type Cluster, testCluster } from "../src/testing.ts";

export interface Loose extends KubernetesObject {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly [field: string]: any;
}

/** A kind whose objects may have any field. */
export const loose = (kind: Kind): Kind<Loose> => kind as Kind<Loose>;

export interface World {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly namespace: string;
  /** The HTTP status of the last response. */
  readonly status: number | undefined;
  /** The Warning headers since the last call. */
  warnings(): readonly string[];
  /** A new name, unique in the namespace. */
  name(): string;
  /** Creates an object, with a new name if it has none. */
  make(kind: Kind<Loose>, object?: Loose): Promise<Stored<Loose>>;
  /** Sends any request and parses the response. */
  ask(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, more?: Asked): Promise<Loose>;
}

export interface Asked {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Call once, at the top of a file. */
export function world(): World {
  let cluster: Cluster;
  let client: Client;
  let status: number | undefined;
  let warnings: string[] = [];
  let count = 0;
  beforeAll(async () => {
    cluster = await testCluster();
    const observer = {
      called: (report: { status: number | undefined }) => {
        status = report.status;
      },
      warned: ({ text }: { text: string }) => void warnings.push(text),
    };
    client = await cluster.client({ observer });
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());
  const name = () => {
    count += 1;
    return `c${count}`;
  };
  return {
    get cluster() {
      return cluster;
    },
    get client() {
      return client;
    },
    get namespace() {
      return cluster.defaultNamespace;
    },
    get status() {
      return status;
    },
    warnings() {
      const heard = warnings;
      warnings = [];
      return heard;
    },
    name,
    make: (kind, { metadata, ...rest } = {}) => {
      const fresh = metadata?.generateName === undefined ? { name: name() } : {};
      const home = kind.namespaced ? { namespace: cluster.defaultNamespace } : {};
      return client.create(kind, { metadata: { ...fresh, ...home, ...metadata }, ...rest });
    },
    ask: async (method, path, more = {}) => JSON.parse(await client.request({ method, path, ...more })),
  };
}

/** The error that rejects the call; `said` is the server's message. Throws if the call succeeds. */
export async function refusal(call: Promise<unknown>): Promise<ApiError & { readonly said: string }> {
  const error = await call.then(
    (answer) => new Error(`expected an error, found ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw error;
  return Object.assign(error, { said: error.serverMessage });
}

export const at = (object: KubernetesObject): ObjectRef => refOf(object);

export const merge = (body: object) => ({ type: "merge", body }) as const;
export const strategic = (body: object) => ({ type: "strategic", body }) as const;
export const json = (...body: readonly object[]) => ({ type: "json", body: body as never }) as const;
