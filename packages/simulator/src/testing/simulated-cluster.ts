// The simulator as a cluster for tests. Each test gets its own, because it starts in milliseconds. It runs in real time, because
// behavior tests wait as they do for the real one, and with TLS and HTTP/2, because clients use them in production. Tests that
// control time start a simulator themselves.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, NotFoundError, systemEnvironment } from "@memhog/runtime";
import type { RawRequest } from "@memhog/runtime/client";
import { Namespace, ServiceAccount } from "@memhog/runtime/kinds";
import { eventually } from "@memhog/runtime/testing";
import { fullCluster } from "../full-cluster.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import type { Cluster, ClusterObject, Reference } from "./cluster.ts";

const namespace = "test";

// Without a default StorageClass, because the real test cluster has none.
export async function openCluster(): Promise<Cluster> {
  const simulator = await startSimulator({
    environment: systemEnvironment(),
    http: { tls: true },
    components: fullCluster({ defaultStorageClass: false }),
  });
  const folder = await mkdtemp(join(tmpdir(), "simulator-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, simulator.kubeconfig ?? "");
  const client = simulator.client();
  await makeNamespace(client, { name: namespace });
  const close = async () => {
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...identity(simulator, kubeconfig), ...access(simulator, client), [Symbol.asyncDispose]: close };
}

function identity({ url = "" }: Simulator, kubeconfig: string) {
  return { is: "simulated", name: "simulator", server: url, version: "1.37.1", kubeconfig, defaultNamespace: namespace } as const;
}

function access(
  simulator: Simulator,
  client: Client,
): Omit<Cluster, keyof ReturnType<typeof identity> | typeof Symbol.asyncDispose> {
  const request: Cluster["request"] = async <T>(method: string, path: string, body?: unknown, { contentType = "" } = {}) => {
    const { pathname, searchParams } = new URL(path, "http://simulator");
    const type = contentType || (method === "PATCH" ? "application/merge-patch+json" : "application/json");
    const query = Object.fromEntries(searchParams);
    const call = { path: pathname, query, headers: { "content-type": type }, ...(body !== undefined && { body }) };
    return parsed(await client.request({ ...call, method: method as NonNullable<RawRequest["method"]> })) as T;
  };
  const paths = pathsOf(request, namespace);
  const get: Cluster["get"] = async (reference) => unlessMissing(request("GET", await paths.object(reference)));
  return {
    client: async (options) => simulator.client(options),
    request,
    get,
    apply: (...manifests) => applyAll({ request, paths, eventually }, manifests as readonly ClusterObject[]),
    list: async <T>(kind: Parameters<Cluster["list"]>[0], options: Parameters<Cluster["list"]>[1] = {}) => {
      const selector = options.labels === undefined ? "" : `?labelSelector=${encodeURIComponent(options.labels)}`;
      const path = (await paths.collection(kind, options.namespace)) + selector;
      return (await request<{ items: readonly T[] }>("GET", path)).items;
    },
    delete: async (reference) => {
      await unlessMissing(request("DELETE", `${await paths.object(reference)}?propagationPolicy=Background`));
    },
    pod: (name, home = namespace) => get({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: home } }),
    eventually: (read, holds, { what: _, ...options } = {}) => eventually(read, holds, options),
    namespace: () => makeNamespace(client, { generateName: "test-" }),
    expose: async (port) => ({ address: "127.0.0.1", port }),
  };
}

/** The API server rejects pods until their namespace has its default service account, which a controller creates. */
async function makeNamespace(client: Client, metadata: { readonly name?: string; readonly generateName?: string }) {
  const { name } = (await client.create(Namespace, { metadata })).metadata;
  const account = () => client.find(ServiceAccount, { namespace: name, name: "default" });
  await eventually(account, (found) => found !== undefined, { everyMs: 2 });
  return name;
}

/** `/version` and objects are JSON; `/readyz` and logs are text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

// Server-side apply of several objects in dependency order.

interface Tools {
  readonly request: Cluster["request"];
  readonly paths: Paths;
  readonly eventually: (read: () => Promise<boolean>, holds: (value: boolean) => boolean) => Promise<boolean>;
}

/** Applies namespaces and CRDs first, because the others depend on them. Returns results in the order of the manifests. */
async function applyAll(tools: Tools, objects: readonly ClusterObject[]): Promise<ClusterObject[]> {
  const made = new Map<ClusterObject, ClusterObject>();
  const ground = objects.filter(({ kind }) => kind === "Namespace" || kind === "CustomResourceDefinition");
  for (const object of [...ground, ...objects.filter((one) => !ground.includes(one))]) {
    made.set(object, await applyOne(tools, object));
    if (object.kind === "CustomResourceDefinition") await untilServed(tools, object);
  }
  return objects.flatMap((object) => made.get(object) ?? []);
}

async function applyOne({ request, paths }: Tools, object: ClusterObject): Promise<ClusterObject> {
  const path = await paths.object(object);
  // Server-side apply needs a name, so objects with generateName are created.
  if (object.metadata.name === undefined) return request("POST", path.slice(0, path.lastIndexOf("/")), object);
  const contentType = "application/apply-patch+yaml";
  return request("PATCH", `${path}?fieldManager=localcluster&force=true`, object, { contentType });
}

async function untilServed({ paths, eventually }: Tools, { spec }: ClusterObject): Promise<void> {
  for (const { name, served } of spec.versions) {
    const kind = { apiVersion: `${spec.group}/${name}`, kind: spec.names.kind };
    if (served) await eventually(() => paths.knows(kind), Boolean);
  }
}

// The path of a manifest's object, from discovery.

type Kind = Pick<ClusterObject, "apiVersion" | "kind">;

export interface Paths {
  /** The path of a collection, in one namespace or in all. */
  collection(kind: Kind, namespace: string | undefined): Promise<string>;
  object(reference: Reference): Promise<string>;
  /** Whether the server already serves the kind. */
  knows(kind: Kind): Promise<boolean>;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** `home` is the namespace of namespaced objects that name none. */
export function pathsOf(request: Cluster["request"], home: string): Paths {
  const find = async ({ apiVersion, kind }: Kind): Promise<Resource | undefined> => {
    const { resources } = await request<{ resources: readonly Resource[] }>("GET", root(apiVersion)).catch((error: unknown) => {
      if (error instanceof NotFoundError) return { resources: [] };
      throw error;
    });
    return resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  };
  const collection: Paths["collection"] = async (kind, namespace) => {
    const found = await find(kind);
    if (found === undefined)
      throw new TypeError(`expected a kind that is served, found ${kind.kind} of ${kind.apiVersion}; is its CRD applied?`);
    const scope = found.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : "";
    return `${root(kind.apiVersion)}${scope}/${found.name}`;
  };
  return {
    collection,
    object: async (reference) =>
      `${await collection(reference, reference.metadata.namespace ?? home)}/${reference.metadata.name}`,
    knows: async (kind) => (await find(kind)) !== undefined,
  };
}

const root = (apiVersion: string) => (apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
