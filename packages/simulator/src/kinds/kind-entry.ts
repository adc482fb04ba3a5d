// A kind entry contains everything the server needs to serve a kind, as data and pure functions. This folder has the entries of
// built-in kinds. CustomResourceDefinitions become the same entries (custom-resources/), so verbs do not distinguish them.
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import type { FieldError } from "../server/field-error.ts";
import type { StoredKind } from "../storage/storage.ts";
import { applyDefaults, type Defaults } from "./defaults.ts";
import { readAsGo, writeAsGo } from "./shape.ts";
import { structNameOf } from "./structs.ts";

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
  /** Allowed verbs. @default all */
  readonly verbs?: readonly Verb[];
  /** By name. `status` and `scale` have common handlers; server/subresources.ts has the others. */
  readonly subresources?: Readonly<Record<string, SubresourceEntry>>;
  /** The storage key, if it differs from group and plural. Events have two API groups and one storage key. */
  readonly storedAs?: StoredKind;
  readonly conversion?: Conversion;

  /** Whether metadata.generation counts changes to the desired state, and which other fields it counts. @default no */
  readonly generation?: GenerationRule;
  // These run on a draft on every create and update, in this order: prune, defaults, finish, (admission), prepare, validate.
  /** Completes the draft for storage: resets fields that clients cannot set, and allocates values. */
  readonly prepare?: (draft: Draft, context: PrepareContext) => void;
  /** Sets defaults. Also runs on the result of a patch. Must be idempotent. */
  readonly defaults?: (draft: Draft) => void;
  /** Drops unknown fields and returns their paths (for `fieldValidation`). @throws ShapeError */
  readonly prune?: (draft: Draft) => readonly string[];
  /** Adds the fields that Go always writes, after the defaults. */
  readonly finish?: (draft: Draft) => void;
  /** Validates the whole object. `old` is set for an update. */
  readonly validate?: (object: ApiObject, old: ApiObject | undefined, context: ValidateContext) => readonly FieldError[];
  /** Which names are allowed. @default "subdomain" */
  readonly names?: NameRule;

  /** Fields for field selectors, in addition to metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
  /** The columns of `kubectl get`. @default Name and Created At */
  readonly columns?: readonly Column[];

  /** Sent in a Warning header with every response. */
  readonly warning?: string;
  /** Whether a create can set the status, as for nodes. @default false */
  readonly createsStatus?: boolean;
  /** Whether an update of a missing object creates it. @default false */
  readonly createOnUpdate?: boolean;
  /** Whether an update requires a resourceVersion. @default false */
  readonly versionedUpdate?: boolean;
  /** What a write to `status` can change in addition to the status. @default "metadata" */
  readonly statusWrites?: "metadata" | "annotations" | "status only";
  /** The default grace period in seconds. Set only for kinds with graceful deletion. */
  readonly gracePeriod?: (object: ApiObject) => number;
  /** The default propagation policy of a deletion. @default "Background" */
  readonly propagation?: "Background" | "Orphan";
  /** Whether a deletion returns the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean;

  /** The CustomResourceDefinition. Undefined for built-in kinds. */
  readonly customResource?: CustomResource;
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** "subdomain" (most kinds), "label" (namespaces, services), "path" (RBAC: any path segment of a URL). */
export type NameRule = "subdomain" | "label" | "path";

export type GenerationRule = "spec" | "spec and annotations";

export interface SubresourceEntry {
  /** The kind of its requests and responses, if not that of the object: Scale, Eviction, … */
  readonly requestKind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly Verb[];
  /** For `scale`: paths such as ".spec.replicas". */
  readonly scale?: ScalePaths;
}

export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** The path of a selector string. Built-in kinds have a LabelSelector at `.spec.selector` instead. */
  readonly labelSelector?: string;
}

interface CustomResource {
  /** The UID of the CustomResourceDefinition. */
  readonly uid: string;
  /** The openAPIV3Schema of this version. Merge keys and OpenAPI are derived from it. */
  readonly schema: JsonObject;
}

/** Converts between the served and the stored version. Asynchronous, because it can call a webhook. */
export interface Conversion {
  fromStored(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]>;
  toStored(object: ApiObject): ApiObject | Promise<ApiObject>;
}

export interface PrepareContext {
  /** The stored object. Undefined for a create. */
  readonly old: ApiObject | undefined;
  /** The subresource of the request: "status", "resize", … */
  readonly subresource: string | undefined;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface ValidateContext {
  readonly subresource: string | undefined;
}

/** A column of `metav1.TableColumnDefinition`, with a function that returns its cell. */
export interface Column {
  readonly name: string;
  /** @default "string" */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always printed, higher values only with `-o wide`. @default 0 */
  readonly priority?: number;
  /** `null` is an empty cell. `now` is in milliseconds since 1970, for ages. */
  readonly cell: (object: ApiObject, now: number) => Cell;
}

export type Cell = string | number | boolean | null;

// Helpers for entries of built-in kinds.

export const allVerbs: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The verbs of `status` and other subresources that change the object itself. */
export const readAndWrite: SubresourceEntry = { verbs: ["get", "patch", "update"] };

export const status = { status: readAndWrite } as const;

export const scale = {
  scale: {
    verbs: ["get", "patch", "update"],
    requestKind: { group: "autoscaling", version: "v1", kind: "Scale" },
    scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas" },
  },
} as const satisfies Record<string, SubresourceEntry>;

/** The part of a kind entry that does not follow from the kind. */
export type Row = Partial<Omit<KindEntry, "group" | "version" | "kind" | "defaults">> & {
  readonly table?: Defaults;
};

/** Creates a built-in kind. By default, it is namespaced, and singular and plural derive from the kind ("pod", "pods"). */
export function builtIn(group: string, version: string, kind: string, { table, ...row }: Row = {}): KindEntry {
  const singular = row.singular ?? kind.toLowerCase();
  const struct = structNameOf({ group, version, kind });
  const defaults = table && ((draft: Draft) => applyDefaults(draft, table));
  return {
    group,
    version,
    kind,
    singular,
    plural: row.plural ?? `${singular}s`,
    namespaced: row.namespaced ?? true,
    prune: (draft) => readAsGo(draft, struct),
    finish: (draft) => writeAsGo(draft, struct),
    ...row,
    ...(defaults && { defaults }),
  };
}
