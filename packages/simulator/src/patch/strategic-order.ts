// In which order the elements of a list come out of a strategic merge patch, and by what they are told apart.
import { isObject } from "../json.ts";
import type { MergeSchema, StrategicRule } from "./merge-schema.ts";

export function strategicRule(schema: MergeSchema): StrategicRule {
  return schema.strategic ?? (schema.keys?.[0] === undefined ? {} : { key: schema.keys[0] });
}

export interface Order {
  /** The order of what the patch mentions: elements, or just their keys. */
  readonly wanted: readonly unknown[];
  /** The order of everything else. */
  readonly live: readonly unknown[];
  readonly schema: MergeSchema;
}

/** What the patch mentions in the patch's order; the others are put between as they were. */
export function orderedBy(list: readonly unknown[], { wanted, live, schema }: Order): readonly unknown[] {
  const { key } = strategicRule(schema);
  const idOf = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  const [first, before] = [wanted.map(idOf), live.map(idOf)];
  const sorted = (items: readonly unknown[], by: readonly unknown[]) =>
    [...items].sort((a, b) => by.indexOf(idOf(a)) - by.indexOf(idOf(b)));
  const mentioned = sorted(
    list.filter((item) => first.includes(idOf(item))),
    first,
  );
  const others = sorted(
    list.filter((item) => !first.includes(idOf(item))),
    before,
  );
  return interleave(others, mentioned, (item) => before.indexOf(idOf(item)));
}

/** An element of the others comes before the next mentioned one if it did before. */
function interleave(
  others: readonly unknown[],
  mentioned: readonly unknown[],
  place: (item: unknown) => number,
): readonly unknown[] {
  const result: unknown[] = [];
  const rest = [...others];
  for (const item of mentioned) {
    const at = place(item);
    while (rest.length > 0 && at >= 0 && place(rest[0]) >= 0 && place(rest[0]) < at) result.push(rest.shift());
    result.push(item);
  }
  return [...result, ...rest];
}

/** A value that is new: objects with directives are not part of it. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((each) => each !== undefined);
  if (!isObject(value)) return value;
  if ("$patch" in value) return undefined;
  const kept = Object.entries(value).map(([key, each]) => [key, withoutDirectives(each)] as const);
  return Object.fromEntries(kept.filter(([, each]) => each !== undefined));
}
