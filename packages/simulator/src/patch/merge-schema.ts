// How a value is merged and owned, part by part: whether a list is one thing or many, and what tells its elements apart.
// Strategic merge patches and server-side apply go by it. For built-in kinds it is a table (merge-keys.ts); for custom
// resources it follows from `x-kubernetes-list-type` and its kin (custom-merge-schema.ts).
//
// What a schema does not mention is plain: objects are merged field by field, lists are replaced as a whole.

export interface MergeSchema {
  /** An object that is owned as a whole: whoever applies it applies all of it. */
  readonly atomic?: boolean;
  /** A list of scalars, each owned by itself. */
  readonly set?: boolean;
  /** A list of objects told apart by these fields. */
  readonly keys?: readonly string[];
  /** What a key is if an element does not say. */
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
  /** Where a strategic merge patch goes by something else than the above. */
  readonly strategic?: StrategicRule;

  /** Named fields of an object. */
  readonly fields?: Readonly<Record<string, MergeSchema>>;
  /** Elements of a list, or the values of a map. */
  readonly items?: MergeSchema;
  /** No other fields than the named ones; only custom resources know all of theirs. */
  readonly closed?: boolean;
}

export interface StrategicRule {
  /** The one field that tells the elements of a list apart. */
  readonly key?: string;
  /** Replaced as a whole. */
  readonly replace?: boolean;
}

/** Says nothing: objects are merged, lists replaced. */
export const plain: MergeSchema = {};

/** The schema of a field, whether it is one that the schema names, and undefined for one that cannot be. */
export function fieldOf(
  schema: MergeSchema,
  name: string,
): { readonly schema: MergeSchema; readonly named: boolean } | undefined {
  const named = schema.fields !== undefined && Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
  if (named !== undefined) return { schema: named, named: true };
  if (schema.items !== undefined) return { schema: schema.items, named: false };
  return schema.closed === true ? undefined : { schema: plain, named: true };
}

/** Whether a list is one value. */
export function isAtomicList(schema: MergeSchema): boolean {
  return schema.set !== true && schema.keys === undefined;
}
