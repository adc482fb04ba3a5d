// Conditions report the state of an object to users and to `kubectl wait`. Their types and reasons are public API, so the
// definition lists them, and no others compile:
//
//     conditions: {
//       Ready: { True: ["AllPodsRunning"], False: ["PodsMissing", "PodsFailing"] },
//       Paused: { True: { AskedTo: "spec.paused is true." }, False: ["Active"] },
//     }
//
// A type lists its reasons by status, so a reason implies the status (`condition()`), and `Ready=True` with the reason
// PodsMissing does not compile. If any status can have any reason, use a plain list. A reason can have a description for the
// reference documentation.
import type { Condition } from "../objects/kinds/kind.ts";
import { ResourceDefinitionError } from "./errors.ts";
import type { StructuralSchema } from "./structural-types.ts";

type ConditionStatus = Condition["status"];

/** Reasons, or reasons with descriptions. CamelCase, as Kubernetes requires. */
export type Reasons = readonly string[] | Readonly<Record<string, string>>;

export interface ReasonsByStatus {
  readonly True?: Reasons;
  readonly False?: Reasons;
  readonly Unknown?: Reasons;
}

/** Type → reasons. */
export type ConditionTable = Readonly<Record<string, Reasons | ReasonsByStatus>>;

type NamesIn<R> = R extends readonly (infer Name extends string)[] ? Name : Extract<keyof R, string>;

type StatusAndReason<R> = R extends Reasons
  ? { readonly status: ConditionStatus; readonly reason: NamesIn<R> }
  : { [S in Extract<keyof R, ConditionStatus>]: { readonly status: S; readonly reason: NamesIn<R[S]> } }[Extract<
      keyof R,
      ConditionStatus
    >];

/** A condition without its transition time, which is added on write. Only pairs of type and reason from the definition compile. */
export type ConditionIn<Table extends ConditionTable> = {
  [Type in Extract<keyof Table, string>]: {
    readonly type: Type;
    readonly message: string;
    readonly observedGeneration?: number;
  } & StatusAndReason<Table[Type]>;
}[Extract<keyof Table, string>];

/** A condition as it is stored. */
export type StoredConditionIn<Table extends ConditionTable> = ConditionIn<Table> & { readonly lastTransitionTime: string };

/** The types whose reasons are listed by status. */
type DecidedTypes<Table extends ConditionTable> = {
  [Type in Extract<keyof Table, string>]: Table[Type] extends Reasons ? never : Type;
}[Extract<keyof Table, string>];

type StatusOfReason<R, Reason> = {
  [S in Extract<keyof R, ConditionStatus>]: Reason extends NamesIn<R[S]> ? S : never;
}[Extract<keyof R, ConditionStatus>];

/** One union member per pair of type and reason, so that an expression that chooses between reasons still type-checks. */
type Decided<Table extends ConditionTable, Type extends keyof Table, Reason> = Type extends keyof Table
  ? Reason extends string
    ? [StatusOfReason<Table[Type], Reason>] extends [never]
      ? never
      : {
          readonly type: Type;
          readonly status: StatusOfReason<Table[Type], Reason>;
          readonly reason: Reason;
          readonly message: string;
        }
    : never
  : never;

interface WithConditions<Table extends ConditionTable> {
  readonly kind: string;
  readonly definition: { readonly conditions?: Table };
}

/**
 * Creates a condition whose status follows from its reason.
 *
 *     condition(Gordon, "Ready", "PodsMissing", "2 of 3 gordons are running")
 *     // { type: "Ready", status: "False", reason: "PodsMissing", message: "2 of 3 gordons are running" }
 */
export function condition<
  Table extends ConditionTable,
  Type extends DecidedTypes<Table>,
  Reason extends Extract<ConditionIn<Table>, { readonly type: Type }>["reason"],
>(resource: WithConditions<Table>, type: Type, reason: Reason, message: string): Decided<Table, Type, Reason> {
  const found = reasonsOf(resource.definition.conditions ?? {}).find((row) => row.type === type && row.reason === reason);
  if (found?.status === undefined)
    throw new ResourceDefinitionError(
      `${resource.kind}: expected a status for ${type}/${reason} in the definition, found none → list the reason under True, False or Unknown`,
    );
  return { type, status: found.status, reason, message } as never;
}

/** One reason of a condition. */
export interface ReasonRow {
  readonly type: string;
  /** Undefined if the reason can have any status. */
  readonly status: ConditionStatus | undefined;
  readonly reason: string;
  readonly description: string;
}

/** All reasons of all condition types. */
export function reasonsOf(table: ConditionTable): readonly ReasonRow[] {
  return Object.entries(table).flatMap(([type, reasons]) => {
    if (isPlain(reasons)) return rows(type, undefined, reasons);
    return statuses.flatMap((status) => rows(type, status, reasons[status] ?? []));
  });
}

const statuses = ["True", "False", "Unknown"] as const;

function isPlain(reasons: Reasons | ReasonsByStatus): reasons is Reasons {
  return Array.isArray(reasons) || Object.values(reasons).every((value) => typeof value === "string");
}

function rows(type: string, status: ConditionStatus | undefined, reasons: Reasons): readonly ReasonRow[] {
  const described = Array.isArray(reasons) ? reasons.map((reason) => [reason, ""] as const) : Object.entries(reasons);
  return described.map(([reason, description]) => ({ type, status, reason, description }));
}

/** Throws for names that the API server rejects, and for a reason that is listed twice. */
export function checkConditions(kind: string, table: ConditionTable): void {
  const seen = new Set<string>();
  for (const { type, reason } of reasonsOf(table)) {
    if (!typeName.test(type)) throw new ResourceDefinitionError(`${kind}: expected a CamelCase condition type, found "${type}"`);
    if (!reasonName.test(reason)) throw new ResourceDefinitionError(`${kind}: expected a CamelCase reason, found "${reason}"`);
    const pair = `${type}/${reason}`;
    if (seen.has(pair)) throw new ResourceDefinitionError(`${kind}: expected ${pair} to be listed once, found it twice`);
    seen.add(pair);
  }
}

const typeName = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,314}[A-Za-z0-9])?$/;
const reasonName = /^[A-Z][A-Za-z0-9_]{0,1022}[A-Za-z0-9_]?$/;

/** The list of conditions in the schema: merged by type, so that writers of different types do not overwrite each other. */
export function conditionsSchema(table: ConditionTable): StructuralSchema {
  return {
    description: `What is known about the object: ${describeTypes(table)}.`,
    type: "array",
    maxItems: 32,
    items: conditionSchema,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  };
}

/** "Ready (AllPodsRunning, PodsMissing), Paused (…)" */
function describeTypes(table: ConditionTable): string {
  const all = reasonsOf(table);
  const reasonsFor = (type: string) => all.filter((row) => row.type === type).map((row) => row.reason);
  return Object.keys(table)
    .map((type) => `${type} (${reasonsFor(type).join(", ")})`)
    .join("; ");
}

/** The schema of metav1.Condition. */
const conditionSchema: StructuralSchema = {
  type: "object",
  properties: {
    type: {
      description: "Type of the condition, in CamelCase.",
      type: "string",
      maxLength: 316,
      pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    },
    status: { description: "Status of the condition.", type: "string", enum: ["True", "False", "Unknown"] },
    reason: {
      description: "Reason for the last transition, in CamelCase, for programs.",
      type: "string",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
    message: { description: "Details about the transition, for people.", type: "string", maxLength: 32768 },
    lastTransitionTime: {
      description: "Last time the condition changed from one status to another.",
      type: "string",
      format: "date-time",
    },
    observedGeneration: {
      description: "Generation of the object that this condition describes.",
      type: "integer",
      format: "int64",
      minimum: 0,
    },
  },
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
};
