// Kubernetes objects as tests write and read them: manifests, the paths of their resources, and server-side apply.
import { parseAllDocuments } from "yaml";
import { ApiError, InvalidManifestError } from "../errors.ts";
import type { Api } from "./client.ts";
import { type EventuallyOptions, eventually } from "./eventually.ts";

export interface Metadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly [field: string]: unknown;
}

/** Any object of the API. Tests know what is below `spec` and `status`. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep into objects whose types they know and we do not
  readonly [field: string]: any;
}

/** Identifies an object. A manifest is a reference to itself, so `cluster.get(manifest)` reads the current object. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Whether a condition of the object has the status True. */
export function isConditionTrue({ status }: KubernetesObject, type: string): boolean {
  const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

/** The objects in manifests: YAML of one or more documents, objects, Lists of objects. */
export function objectsOf(manifests: readonly (string | object)[]): readonly KubernetesObject[] {
  return manifests.flatMap((manifest) => (typeof manifest === "string" ? parseYaml(manifest) : [manifest])).flatMap(flatten);
}

function parseYaml(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return []; // an empty text
  const [error] = documents.flatMap((document) => document.errors);
  if (error !== undefined) throw new InvalidManifestError(`not YAML: ${error.message}`, { cause: error });
  return documents.map((document) => document.toJS() as unknown).filter((value) => value !== null); // after a trailing `---`
}

function flatten(value: unknown): readonly KubernetesObject[] {
  const object = value as Partial<KubernetesObject>;
  if (typeof object !== "object" || typeof object?.kind !== "string" || typeof object.apiVersion !== "string")
    throw new InvalidManifestError(`expected an object with apiVersion and kind, found ${JSON.stringify(value)?.slice(0, 200)}`);
  if (object.kind === "List") return (object.items as readonly unknown[]).flatMap(flatten);
  if (object.metadata?.name === undefined && object.metadata?.generateName === undefined)
    throw new InvalidManifestError(`expected metadata.name or metadata.generateName, found a ${object.kind} without either`);
  return [object as KubernetesObject];
}

interface Resource {
  /** The plural, as in paths. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Maps kinds to paths. A kind that is not known is looked up again, because a CRD may have been created meanwhile. */
export class Discovery {
  readonly #api: Api;
  readonly #known = new Map<string, Resource>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** The path of a collection in one namespace, or in all of them if `namespace` is undefined. */
  async collectionPath(kind: Kind, namespace: string | undefined): Promise<string> {
    const resource = await this.#find(kind);
    if (resource === undefined)
      throw new InvalidManifestError(`the API server does not serve ${kind.kind} in ${kind.apiVersion}: apply its CRD first`);
    const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : "";
    return `${groupPath(kind.apiVersion)}${scope}/${resource.name}`;
  }

  /** Whether the API server serves the kind. */
  async knows(kind: Kind): Promise<boolean> {
    return (await this.#find(kind)) !== undefined;
  }

  async #find({ apiVersion, kind }: Kind): Promise<Resource | undefined> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    for (const resource of await this.#resources(apiVersion)) {
      const isSubresource = resource.name.includes("/");
      if (!isSubresource) this.#known.set(`${apiVersion}/${resource.kind}`, resource);
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

export interface ApplyContext {
  readonly api: Api;
  readonly discovery: Discovery;
  /** For namespaced objects that do not name one. */
  readonly namespace: string;
}

const crd = "CustomResourceDefinition";

/**
 * Server-side apply of objects in order, except that Namespaces and CRDs go first and CRDs are awaited. Returns the objects that the
 * API server returned.
 */
export async function apply(context: ApplyContext, objects: readonly KubernetesObject[]): Promise<KubernetesObject[]> {
  const first = objects.filter(({ kind }) => kind === "Namespace" || kind === crd);
  const results = new Map<KubernetesObject, KubernetesObject>();
  for (const object of first) results.set(object, await applyOne(context, object));
  for (const object of first) if (object.kind === crd) await waitUntilServed(context, object);
  for (const object of objects) if (!results.has(object)) results.set(object, await applyOne(context, object));
  return objects.flatMap((object) => results.get(object) ?? []);
}

async function applyOne({ api, discovery, namespace }: ApplyContext, object: KubernetesObject): Promise<KubernetesObject> {
  const collection = await discovery.collectionPath(object, object.metadata.namespace ?? namespace);
  // With generateName there is no existing object to apply to.
  if (object.metadata.name === undefined) return api.request<KubernetesObject>("POST", collection, object);
  const path = `${collection}/${object.metadata.name}?fieldManager=localcluster&force=true`;
  return api.request<KubernetesObject>("PATCH", path, object, { contentType: "application/apply-patch+yaml" });
}

/** A kind appears in discovery a moment after its CRD is Established. */
async function waitUntilServed({ api, discovery }: ApplyContext, { metadata, spec }: KubernetesObject): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`;
  await eventually(
    () => api.request<KubernetesObject>("GET", path),
    (found) => isConditionTrue(found, "Established"),
    { what: `CRD ${metadata.name} is Established` },
  );
  for (const version of spec.versions.filter(({ served }: { served: boolean }) => served)) {
    const kind = { apiVersion: `${spec.group}/${version.name}`, kind: spec.names.kind };
    await eventually(
      () => discovery.knows(kind),
      (known) => known,
      { what: `${kind.kind} of ${kind.apiVersion} is served` },
    );
  }
}

/** Creates a namespace with a generated name. */
export async function createNamespace(api: Api): Promise<string> {
  const created = await api.request<KubernetesObject>("POST", "/api/v1/namespaces", { metadata: { generateName: "test-" } });
  return created.metadata.name ?? "";
}

/** Until a controller has created the default service account of a namespace, the API server rejects pods in it. */
export async function waitForDefaultServiceAccount(api: Api, namespace: string, options: EventuallyOptions = {}): Promise<void> {
  await eventually(
    () => api.request("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    () => true,
    { what: `namespace ${namespace} has its default service account`, ...options },
  );
}
