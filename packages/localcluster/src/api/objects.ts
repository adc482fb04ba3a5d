// Kubernetes objects as tests write and read them.
import { parseAllDocuments } from "yaml";
import { InvalidManifestError } from "../errors.ts";

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

/** Any object of the API. What is below `spec` and `status` is for the test to know. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep into objects whose types they know and we do not
  readonly [field: string]: any;
}

/** Enough to find an object. Every object refers to itself, so `cluster.get(manifest)` reads what became of a manifest. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

/** Manifests as they come (YAML of one or more documents, objects, Lists of objects) as a flat list of objects. */
export function objectsOf(manifests: readonly (string | object)[]): readonly KubernetesObject[] {
  return manifests.flatMap((manifest) => (typeof manifest === "string" ? parseYaml(manifest) : [manifest])).flatMap(flatten);
}

function parseYaml(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return []; // an empty text has no documents
  const [error] = documents.flatMap((document) => document.errors);
  if (error !== undefined) throw new InvalidManifestError(`not YAML: ${error.message}`, { cause: error });
  return documents.map((document) => document.toJS() as unknown).filter((value) => value !== null); // `---` at the end is a habit
}

function flatten(value: unknown): readonly KubernetesObject[] {
  const object = value as Partial<KubernetesObject>;
  if (typeof object !== "object" || typeof object?.kind !== "string" || typeof object.apiVersion !== "string")
    throw new InvalidManifestError(`expected an object with apiVersion and kind, found ${JSON.stringify(value)?.slice(0, 200)}`);
  if (object.kind === "List") return (object.items as readonly unknown[]).flatMap(flatten);
  if (object.metadata?.name === undefined && object.metadata?.generateName === undefined)
    throw new InvalidManifestError(`a ${object.kind} without metadata.name or metadata.generateName`);
  return [object as KubernetesObject];
}
