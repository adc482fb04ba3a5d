// The simulator, as a cluster for tests: one of its own for every test, because it starts in milliseconds; with real time, because
// a test of behaviour waits as it would for the real one; and with TLS and HTTP/2, because a client must not find out here how
// it gets on without them. Tests that own time start a simulator themselves.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, Namespace, NotFoundError, type RawRequest, ServiceAccount, systemEnvironment } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { type Simulator, startSimulator } from "../simulator.ts";
import { wholeCluster } from "../whole-cluster.ts";
import { applyAll } from "./apply.ts";
import type { Cluster, ClusterObject } from "./cluster.ts";
import { pathsOf } from "./paths.ts";

const namespace = "test";

export async function openCluster(): Promise<Cluster> {
  const simulator = await startSimulator({ environment: systemEnvironment(), http: { tls: true }, parts: wholeCluster() });
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

/** A pod is refused until its namespace has the service account it would run as; a controller makes it a moment later. */
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
