// Conditions: what an object says about itself to people and to `kubectl wait`. Their types and reasons are public API, so
// they are listed in the definition, and nothing else compiles:
//
//     conditions: {
//       Ready: { True: ["AllPodsRunning"], False: ["PodsMissing", "PodsFailing"] },
//       Paused: { True: { AskedTo: "spec.paused is true." }, False: ["Active"] },
//     }
//
// A type lists its reasons by the status they go with; then a reason alone says the status too (`condition()`), and
// `Ready=True because PodsMissing` cannot be written. Where any status may go with any reason a bare list will do. A reason
// may be given a sentence, which the reference documentation prints.
import type { Condition } from "../objects/kinds/common.ts";
import { ResourceDefinitionError } from "./errors.ts";
import type { StructuralSchema } from "./structural-types.ts";

type ConditionStatus = Condition["status"];

/** Reasons, or reasons with a sentence for each. CamelCase, as Kubernetes demands. */
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

/** A condition as it is decided: the time of the transition is added where it is set. Only pairs of the table fit. */
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

/** One member for each pair of the table, so that a choice between two types or reasons is one between two whole conditions. */
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
 * A condition whose status follows from its reason.
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
    throw new ResourceDefinitionError(`${resource.kind}: expected a status listed for ${type}/${reason}, found none`);
  return { type, status: found.status, reason, message } as never;
}

/** One row of a condition table, flat. */
export interface ReasonRow {
  readonly type: string;
  /** Undefined if the reason may go with any. */
  readonly status: ConditionStatus | undefined;
  readonly reason: string;
  readonly description: string;
}

/** The whole table, row by row. */
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

/** Throws for names that the API server would refuse, and for a reason that says two things. */
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

/** The list of conditions in the schema: merged by type, so that two writers of two types do not overwrite each other. */
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

/** Field by field the standard condition of Kubernetes (metav1.Condition). */
const conditionSchema: StructuralSchema = {
  type: "object",
  properties: {
    type: {
      description: "What the condition is about.",
      type: "string",
      maxLength: 316,
      pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    },
    status: { description: "Whether it holds.", type: "string", enum: ["True", "False", "Unknown"] },
    reason: {
      description: "Why, in one word, for programs.",
      type: "string",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
    message: { description: "Why, in a sentence, for people.", type: "string", maxLength: 32768 },
    lastTransitionTime: { description: "When the status last changed.", type: "string", format: "date-time" },
    observedGeneration: {
      description: "The generation of the object that this was decided for.",
      type: "integer",
      format: "int64",
      minimum: 0,
    },
  },
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
};
