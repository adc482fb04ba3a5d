// `defineResource` defines a custom resource as one value. Everything else is derived from it, without code generation:
//
//   the types           SpecOf, StatusOf, ConditionOf, ObjectOf<typeof Gordon>        (this file, conditions.ts)
//   the CRD             crdOf(Gordon): structural schema, defaults, CEL, columns       custom-resource-definition.ts
//   client-side checks  withDefaults(Gordon, …), parseObject(Gordon, …)                parse.ts
//   permissions         allow(Gordon, "get", "list"), inferPermissions(…) → Role       permissions.ts, rbac.ts
//   the cluster         installCrds(client, [Gordon])                                  install.ts
//   manifests, docs     manifests, checkManifests, referenceOf(Gordon)                 @memhog/kit
//
// A resource is also a Kind: pass it to clients, caches and controllers.
//
//     export const Gordon = defineResource({
//       group: "operator.prgcont.cz", version: "v1", kind: "Gordon", shortNames: ["gn"],
//       spec: z.object({ gordon: z.object({ replicas: z.int().min(0).max(100).describe("Desired number of gordons.") }) }),
//       status: z.object({ replicas: z.int(), readyReplicas: z.int(), pods: z.array(z.string().max(253)).max(100) }),
//       conditions: { Ready: { True: ["AllPodsRunning"], False: ["PodsMissing"] } },
//       columns: [{ name: "Desired", path: ".spec.gordon.replicas" }, { name: "Status", condition: "Ready", show: "reason" }],
//     });
//     export type Gordon = ObjectOf<typeof Gordon>;
import type { z } from "zod";
import type { Kind, KubernetesObject, ObjectMeta } from "../objects/object.ts";
import { type ConditionIn, type ConditionTable, checkConditions, type StoredConditionIn } from "./conditions.ts";
import type { Column } from "./custom-resource-definition.ts";
import { ResourceDefinitionError } from "./errors.ts";
import type { CelRule } from "./structural-types.ts";

/** The definition of a custom resource, without its types. Only the names and the spec are required. */
export interface AnyDefinition {
  /** The API group, in a domain you own: "operator.prgcont.cz". */
  readonly group: string;
  /** The storage version. Other served versions go to `additionalVersions`. */
  readonly version: string;
  /** CamelCase, singular: "Gordon". */
  readonly kind: string;
  /** The name in URLs. @default the lower-case English plural of `kind` */
  readonly plural?: string;
  /** Short names for kubectl: `kubectl get gn`. */
  readonly shortNames?: readonly string[];
  /** Categories for kubectl, such as "all" for `kubectl get all`. */
  readonly categories?: readonly string[];
  /** @default "Namespaced" */
  readonly scope?: "Namespaced" | "Cluster";
  /** The purpose of the kind, shown first by `kubectl explain`. */
  readonly description?: string;
  /** The desired state. */
  readonly spec: z.ZodObject;
  /** The observed state. `observedGeneration` and `conditions` are added. */
  readonly status?: z.ZodObject;
  /** The condition types and their reasons (conditions.ts). */
  readonly conditions?: ConditionTable;
  /** The columns of `kubectl get` after the name. An Age column is added at the end unless there is one. */
  readonly columns?: readonly Column[];
  /** CEL rules about several fields. For a rule about one field, use `rule(schema, …)` on the field. */
  readonly rules?: readonly ResourceRule[];
  /** The scale subresource, for `kubectl scale` and autoscalers. */
  readonly scale?: ScaleDefinition;
  /** Fields that can be used in field selectors: ".spec.nodeName" (Kubernetes ≥ 1.32). */
  readonly selectable?: readonly string[];
  /**
   * Other served versions of this kind, with the same group, kind and plural. A version without status or conditions inherits
   * those of this version.
   */
  readonly additionalVersions?: readonly AnyResource[];
  /** Whether the API server warns clients that use this version; a string sets the warning. @default false */
  readonly deprecated?: boolean | string;
}

/** The definition of a custom resource, with its types. */
export interface Definition<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends AnyDefinition {
  readonly spec: Spec;
  readonly status?: Status;
  readonly conditions?: Conditions;
  readonly columns?: readonly Column<Extract<keyof NoInfer<Conditions>, string>>[];
}

export interface ResourceRule extends CelRule {
  /** The value that `self` refers to: "spec", "spec.backup", "status", or "" for the whole object, whose metadata.name is visible. @default "" */
  readonly at?: string;
}

export interface ScaleDefinition {
  /** The path of the desired number: ".spec.replicas". */
  readonly specPath: string;
  /** The path of the actual number: ".status.replicas". */
  readonly statusPath: string;
  /** The path of the pods' label selector in string form, required by autoscalers: ".status.selector". */
  readonly selectorPath?: string;
}

/** A definition that can be used as a Kind. */
export interface Resource<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends Kind<ResourceObject<Spec, Status, Conditions>> {
  readonly definition: Definition<Spec, Status, Conditions>;
}

/** A resource of any type. */
export type AnyResource = Kind & { readonly definition: AnyDefinition };

/** An object as the API server returns it, with defaults filled in. */
export interface ResourceObject<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends KubernetesObject {
  readonly spec: Immutable<z.output<Spec>>;
  readonly status?: Immutable<z.output<Status>> & ReportedBy<StoredConditionIn<Conditions>>;
}

interface ReportedBy<Condition> {
  /** The generation of the spec that the status describes. */
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** Readonly at every level, because objects come from shared caches. */
export type Immutable<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Element)[]
    ? readonly Immutable<Element>[]
    : T extends object
      ? { readonly [Key in keyof T]: Immutable<T[Key]> }
      : T;

/** The spec of stored objects: `SpecOf<typeof Gordon>`. */
export type SpecOf<R> = R extends Kind<infer T extends KubernetesObject & { readonly spec: unknown }> ? T["spec"] : never;

/** The status of stored objects. */
export type StatusOf<R> =
  R extends Kind<infer T extends KubernetesObject & { readonly status?: unknown }> ? NonNullable<T["status"]> : never;

/** A condition of the resource, without its transition time. */
export type ConditionOf<R> = R extends Resource<infer _Spec, infer _Status, infer Conditions> ? ConditionIn<Conditions> : never;

/** A status to write: fields with defaults can be omitted, and the runtime adds transition times. */
export type StatusInputOf<R> =
  R extends Resource<infer _Spec, infer Status, infer Conditions>
    ? Immutable<z.input<Status>> & { readonly conditions?: readonly ConditionIn<Conditions>[] }
    : never;

/** An object as a user writes it: fields with defaults can be omitted. */
export type InputOf<R> =
  R extends Resource<infer Spec, infer _Status, infer _Conditions>
    ? {
        readonly apiVersion?: string;
        readonly kind?: string;
        readonly metadata: ObjectMeta;
        readonly spec: Immutable<z.input<Spec>>;
      }
    : never;

/**
 * Defines a custom resource: its types, its CRD, its validation and its columns. `crdOf` checks everything beyond the names.
 *
 * @throws ResourceDefinitionError for names that Kubernetes rejects
 *
 *     const Gordon = defineResource({
 *       ...{ group: "operator.prgcont.cz", version: "v1", kind: "Gordon" },
 *       spec: z.object({ replicas: z.int().min(0).max(100).default(1).describe("Desired number of gordons.") }),
 *       status: z.object({ ready: z.int().describe("Number of ready gordons.") }),
 *       conditions: { Ready: { True: ["AllRunning"], False: ["SomeMissing"] } },
 *       columns: [{ name: "Ready", condition: "Ready" }],
 *     });
 */
export function defineResource<
  Spec extends z.ZodObject,
  Status extends z.ZodObject = z.ZodObject<Record<never, never>>,
  const Conditions extends ConditionTable = Record<never, never>,
>(definition: Definition<Spec, Status, Conditions>): Resource<Spec, Status, Conditions> {
  const { group, version, kind, plural = pluralOf(kind), scope = "Namespaced" } = definition;
  checkNames(definition);
  checkConditions(kind, definition.conditions ?? {});
  return { group, version, kind, plural, namespaced: scope === "Namespaced", definition };
}

// The names of a kind. Kubernetes requires five; four are derived from `kind`.

interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** "Gordon" → "gordons", "AppMemory" → "appmemories", "Proxy" → "proxies", "Gateway" → "gateways", "Class" → "classes". */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

const dnsLabel = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/** Throws for names that the API server rejects. */
export function checkNames(names: Names): void {
  const { group, version, kind, plural = pluralOf(kind) } = names;
  expect(/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind), kind, "kind", "a CamelCase word", kind);
  expect(dnsName.test(group) && group.length <= 253, kind, "group", "a domain name such as apps.example.com", group);
  expect(dnsLabel.test(version), kind, "version", "a version such as v1 or v1alpha1", version);
  for (const word of [plural, ...(names.shortNames ?? []), ...(names.categories ?? [])])
    expect(dnsLabel.test(word), kind, "plural, shortNames and categories", "lower-case words", word);
}

function expect(holds: boolean, kind: string, what: string, expected: string, found: string): void {
  if (!holds) throw new ResourceDefinitionError(`${kind}: expected ${what} to be ${expected}, found "${found}"`);
}
