// From a manifest to the path of its object, by asking the server which kinds it knows.
import { NotFoundError } from "@memhog/runtime";
import type { Cluster, ClusterObject, Reference } from "./cluster.ts";

type Kind = Pick<ClusterObject, "apiVersion" | "kind">;

export interface Paths {
  /** Of a collection: in one namespace, or in all of them. */
  collection(kind: Kind, namespace: string | undefined): Promise<string>;
  object(reference: Reference): Promise<string>;
  /** Whether the server serves it by now. */
  knows(kind: Kind): Promise<boolean>;
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** `home` is where objects are that are namespaced and do not say. */
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
