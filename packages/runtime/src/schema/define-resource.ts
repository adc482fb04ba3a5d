// One value per kind of object. From `defineResource` come, without a generator and without a second source:
//
//   the types           SpecOf, StatusOf, ConditionOf, ObjectOf<typeof Gordon>        (this file, conditions.ts)
//   the CRD             crdOf(Gordon): structural schema, defaults, CEL, columns       custom-resource-definition.ts
//   client-side checks  withDefaults(Gordon, …), parseObject(Gordon, …)                parse.ts
//   rights              may(Gordon, "get", "list"), impliedBy(…) → Role                access.ts, rbac.ts
//   the cluster         installCrds(client, [Gordon])                                  install.ts
//   files and words     manifests, checkManifests, referenceOf(Gordon)                 drift.ts, reference.ts
//
// A resource is also a Kind, so everything that takes one (client, cache, controller) takes it.
//
//     export const Gordon = defineResource({
//       group: "operator.prgcont.cz", version: "v1", kind: "Gordon", shortNames: ["gn"],
//       spec: z.object({ gordon: z.object({ replicas: z.int().min(0).max(100).describe("How many gordons to keep running") }) }),
//       status: z.object({ replicas: z.int(), readyReplicas: z.int(), pods: z.array(z.string().max(253)).max(100) }),
//       conditions: { Ready: { True: ["AllPodsRunning"], False: ["PodsMissing"] } },
//       columns: [{ name: "Desired", path: ".spec.gordon.replicas" }, { name: "Status", condition: "Ready", show: "reason" }],
//     });
//     export type Gordon = ObjectOf<typeof Gordon>;
import type { z } from "zod";
import type { Kind, KubernetesObject, ObjectMeta } from "../objects/object.ts";
import type { Column } from "./columns.ts";
import { type ConditionIn, type ConditionTable, checkConditions, type StoredConditionIn } from "./conditions.ts";
import { checkNames, pluralOf } from "./resource-names.ts";
import type { CelRule } from "./structural-types.ts";

/** What a kind is, when its types do not matter. Everything but names and spec may be left out. */
export interface AnyDefinition {
  /** A domain of yours: "operator.prgcont.cz". */
  readonly group: string;
  /** The version that is stored; others may be served beside it (`alsoServed`). */
  readonly version: string;
  /** CamelCase, singular: "Gordon". */
  readonly kind: string;
  /** As in URLs. @default the lower-case English plural of `kind` */
  readonly plural?: string;
  /** For people in a hurry: `kubectl get gn`. */
  readonly shortNames?: readonly string[];
  /** `kubectl get all` and its like. */
  readonly categories?: readonly string[];
  /** @default "Namespaced" */
  readonly scope?: "Namespaced" | "Cluster";
  /** What it is for; `kubectl explain` begins with it. */
  readonly description?: string;
  /** What people ask for. */
  readonly spec: z.ZodObject;
  /** What the operator reports. `observedGeneration` and `conditions` are added. */
  readonly status?: z.ZodObject;
  /** The legal conditions and their reasons (conditions.ts). */
  readonly conditions?: ConditionTable;
  /** What `kubectl get` shows after the name. An Age column is added at the end unless there is one. */
  readonly columns?: readonly Column[];
  /** CEL rules about more than one field. A rule about one field stands better at the field: `rule(schema, …)`. */
  readonly rules?: readonly ResourceRule[];
  /** For `kubectl scale` and autoscalers. */
  readonly scale?: ScaleDefinition;
  /** Fields that field selectors can ask for: ".spec.nodeName" (Kubernetes ≥ 1.32). */
  readonly selectable?: readonly string[];
  /**
   * Other versions of this kind that the API server serves too. Their definitions name the same group, kind and plural; one
   * that says nothing of a status or conditions has those of this version.
   */
  readonly alsoServed?: readonly AnyResource[];
  /** Warn those who still use this version; a string is the warning. @default false */
  readonly deprecated?: boolean | string;
}

/** What a kind is, with its types. */
export interface Definition<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends AnyDefinition {
  readonly spec: Spec;
  readonly status?: Status;
  readonly conditions?: Conditions;
  readonly columns?: readonly Column<Extract<keyof NoInfer<Conditions>, string>>[];
}

export interface ResourceRule extends CelRule {
  /** What `self` is: "spec", "spec.backup", "status", or "" for the whole object, whose metadata.name is visible. @default "" */
  readonly at?: string;
}

export interface ScaleDefinition {
  /** Where the wanted number is: ".spec.replicas". */
  readonly specPath: string;
  /** Where the actual number is: ".status.replicas". */
  readonly statusPath: string;
  /** Where the label selector of the pods is, as a string; autoscalers need it: ".status.selector". */
  readonly selectorPath?: string;
}

/** A definition that can be used as a Kind. */
export interface Resource<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends Kind<ResourceObject<Spec, Status, Conditions>> {
  readonly definition: Definition<Spec, Status, Conditions>;
}

/** Some resource, when its types do not matter. */
export type AnyResource = Kind & { readonly definition: AnyDefinition };

/** An object as the API server gives it: defaults are filled in. */
export interface ResourceObject<Spec extends z.ZodObject, Status extends z.ZodObject, Conditions extends ConditionTable>
  extends KubernetesObject {
  readonly spec: Immutable<z.output<Spec>>;
  readonly status?: Immutable<z.output<Status>> & ReportedBy<StoredConditionIn<Conditions>>;
}

interface ReportedBy<Condition> {
  /** The generation of the spec that the status speaks of. */
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** Objects come from shared caches: nobody may change them in place. */
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

/** A legal condition, before its transition time is known. */
export type ConditionOf<R> = R extends Resource<infer _Spec, infer _Status, infer Conditions> ? ConditionIn<Conditions> : never;

/** What an operator hands over to be reported: fields with defaults may be missing, transition times are not its business. */
export type StatusInputOf<R> =
  R extends Resource<infer _Spec, infer Status, infer Conditions>
    ? Immutable<z.input<Status>> & { readonly conditions?: readonly ConditionIn<Conditions>[] }
    : never;

/** An object as a person would write it: fields with defaults may be left out. */
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
 * Defines a kind: its types, its CRD, its validation and its columns. Throws a ResourceDefinitionError for names that Kubernetes
 * would refuse; `crdOf` checks the rest.
 *
 *     const Gordon = defineResource({
 *       ...{ group: "operator.prgcont.cz", version: "v1", kind: "Gordon" },
 *       spec: z.object({ replicas: z.int().min(0).max(100).default(1).describe("How many gordons to keep running.") }),
 *       status: z.object({ ready: z.int().describe("How many of them are ready.") }),
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
