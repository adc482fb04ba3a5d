// One line of the table of kinds: everything the server must know to serve a kind, as data and a few pure functions.
// Built-in kinds are rows in this folder; a CustomResourceDefinition becomes the same row (custom-resources/), so no verb
// of the server asks whether a kind is built in.
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import type { FieldError } from "../server/field-error.ts";
import type { StoredKind } from "../storage/storage.ts";

export interface KindEntry {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  /** @default `${kind}List` */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** What may be done with it. @default everything */
  readonly verbs?: readonly Verb[];
  /** By name. `status` and `scale` behave as everywhere; others have a handler in server/subresources/. */
  readonly subresources?: Readonly<Record<string, SubresourceEntry>>;
  /** Where it is kept, if not under its own group and plural: events are one thing with two names. */
  readonly storedAs?: StoredKind;
  readonly conversion?: Conversion;

  /** Whether metadata.generation counts changes, and of what beside everything but metadata and status. @default no */
  readonly generation?: GenerationRule;
  // What happens to a draft on every create and update, in this order: prune, defaults, finish, (admission), prepare, validate.
  /** Makes the draft what the server would store: removes what is not the client's to say, allocates. */
  readonly prepare?: (draft: Draft, context: PrepareContext) => void;
  /** Writes what was left out. Also run on a draft made by a patch. Must be idempotent. */
  readonly defaults?: (draft: Draft) => void;
  /** Drops what the kind does not know, and says what that was (for `fieldValidation`). @throws ShapeError */
  readonly prune?: (draft: Draft) => readonly string[];
  /** Writes what is always written, after the defaults. */
  readonly finish?: (draft: Draft) => void;
  /** Complaints about the whole object. `old` is there for an update. */
  readonly validate?: (object: ApiObject, old: ApiObject | undefined, context: ValidateContext) => readonly FieldError[];
  /** Which names are allowed. @default "subdomain" */
  readonly names?: NameRule;

  /** Fields that a field selector may use, beside metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
  /** What `kubectl get` shows. @default Name and Created At */
  readonly columns?: readonly Column[];

  /** Told to whoever uses it, in a Warning header. */
  readonly warning?: string;
  /** A creation may bring a status: nodes register with theirs. @default false */
  readonly createsStatus?: boolean;
  /** An update of what is not there creates it. @default false */
  readonly createOnUpdate?: boolean;
  /** An update must bring the resourceVersion it was read with. @default false */
  readonly versionedUpdate?: boolean;
  /** What a write to `status` may change beside status and metadata: nothing, or not even metadata. @default "metadata" */
  readonly statusWrites?: "metadata" | "annotations" | "status only";
  /** Deletion in two steps: how many seconds an object has left (the kind has a grace period at all). */
  readonly gracePeriod?: (object: ApiObject) => number;
  /** What a deletion without propagationPolicy does to what the object owns. @default "Background" */
  readonly propagation?: "Background" | "Orphan";
  /** Deleting it answers with the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean;

  /** The definition behind it; undefined for built-in kinds. */
  readonly customResource?: CustomResource;
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** "subdomain" (most), "label" (namespaces, services), "path" (RBAC: anything that fits into a URL). */
export type NameRule = "subdomain" | "label" | "path";

export type GenerationRule = "spec" | "spec and annotations";

export interface SubresourceEntry {
  /** The kind it speaks, if not that of the object: Scale, Eviction, … */
  readonly speaks?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly Verb[];
  /** For `scale`: where the numbers are, as paths like ".spec.replicas". */
  readonly scale?: ScalePaths;
}

export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** The path of a selector in text form; built-in kinds have a LabelSelector at `.spec.selector` instead. */
  readonly labelSelector?: string;
}

export interface CustomResource {
  /** Of the CustomResourceDefinition object. */
  readonly uid: string;
  /** openAPIV3Schema of this version; merge keys, OpenAPI and explain come from it. */
  readonly schema: JsonObject;
}

/** Between the version this entry serves and the one that is stored. May ask a webhook, hence the promises. */
export interface Conversion {
  fromStored(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]>;
  toStored(object: ApiObject): ApiObject | Promise<ApiObject>;
}

export interface PrepareContext {
  /** What is stored; undefined for a create. */
  readonly old: ApiObject | undefined;
  /** The subresource that is written to, if any: "status", "resize", … */
  readonly subresource: string | undefined;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface ValidateContext {
  readonly subresource: string | undefined;
}

/** A column of a table, as `metav1.TableColumnDefinition`, with how its cell is found. */
export interface Column {
  readonly name: string;
  /** @default "string" */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, others with `-o wide`. @default 0 */
  readonly priority?: number;
  /** `null` is an empty cell. `now` in milliseconds since 1970, for ages. */
  readonly cell: (object: ApiObject, now: number) => Cell;
}

export type Cell = string | number | boolean | null;
