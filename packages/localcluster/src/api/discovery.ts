// From a kind to the path of its resource. The API server says which kinds it knows; what it knows may grow (CRDs), so a kind
// that is missing is asked for again.
import { ApiError, InvalidManifestError } from "../errors.ts";
import type { Api } from "./client.ts";

interface Resource {
  /** The plural, as it appears in paths. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

export class Discovery {
  readonly #api: Api;
  readonly #known = new Map<string, Resource>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** The path of a collection: of one namespace, or of all with `namespace` undefined. */
  async collectionPath(kind: Kind, namespace: string | undefined): Promise<string> {
    const { name, namespaced } = await this.#resource(kind);
    const scope = namespaced && namespace !== undefined ? `/namespaces/${namespace}` : "";
    return `${groupPath(kind.apiVersion)}${scope}/${name}`;
  }

  /** Whether the API server serves the kind by now. */
  async knows(kind: Kind): Promise<boolean> {
    return (await this.#find(kind)) !== undefined;
  }

  async #resource(kind: Kind): Promise<Resource> {
    const found = await this.#find(kind);
    if (found === undefined)
      throw new InvalidManifestError(`the API server knows no kind ${kind.kind} in ${kind.apiVersion}; is its CRD applied?`);
    return found;
  }

  async #find({ apiVersion, kind }: Kind): Promise<Resource | undefined> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    for (const resource of await this.#resources(apiVersion)) {
      // "pods/status" is a part of a pod, not a kind of its own.
      if (!resource.name.includes("/")) this.#known.set(`${apiVersion}/${resource.kind}`, resource);
    }
    return this.#known.get(key);
  }

  async #resources(apiVersion: string): Promise<readonly Resource[]> {
    try {
      return (await this.#api.request<{ resources: readonly Resource[] }>("GET", groupPath(apiVersion))).resources;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }
}

const groupPath = (apiVersion: string) => (apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
