// Where a file of conformance cases stands: one cluster and one namespace for all of its cases, because a real namespace costs a
// second. Every case takes names of its own (`at.name()`), so none sees what another left.
//
// Cases are written loosely on purpose: they say things to an API server that no type of ours would allow.
import { ApiError, type Client, type Kind, type KubernetesObject, type ObjectRef, refOf, type Stored } from "@memhog/runtime";
import { afterAll, beforeAll } from "vitest";
import { type Cluster, testCluster } from "../src/testing.ts";

export interface Loose extends KubernetesObject {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly [field: string]: any;
}

/** A kind whose objects may say anything. */
export const loose = (kind: Kind): Kind<Loose> => kind as Kind<Loose>;

export interface World {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly namespace: string;
  /** The HTTP status of the last answer. */
  readonly status: number | undefined;
  /** The Warning headers since the last look at them. */
  warnings(): readonly string[];
  /** A name that nobody else has. */
  name(): string;
  /** Creates an object under a fresh name unless it brings one. */
  make(kind: Kind<Loose>, object?: Loose): Promise<Stored<Loose>>;
  /** Any request, and the answer parsed. */
  ask(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, more?: Asked): Promise<Loose>;
}

export interface Asked {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** To be called at the top of a file. */
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

/** What a call is refused with. A call that is not refused fails the case. */
export async function refusal(call: Promise<unknown>): Promise<ApiError & { readonly said: string }> {
  const error = await call.then(
    (answer) => new Error(`expected a refusal, found ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw error;
  // The sentence of the server, without what the client put in front of it.
  const said = error.message.replace(/^.*?: the server answered \d+( \w+)?: /s, "");
  return Object.assign(error, { said });
}

export const at = (object: KubernetesObject): ObjectRef => refOf(object);

export const merge = (body: object) => ({ type: "merge", body }) as const;
export const strategic = (body: object) => ({ type: "strategic", body }) as const;
export const json = (...body: readonly object[]) => ({ type: "json", body: body as never }) as const;
