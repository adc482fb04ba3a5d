// A mutating webhook answers with the way from the object it was shown to the one it wants, as a JSON patch (RFC 6902).
// Nobody should write such patches by hand: a handler returns the object it wants and this finds the way.
import { isDeepStrictEqual } from "node:util";

export type JsonPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** The operations that turn `from` into `to`; none if they are equal. Fields that are undefined count as absent. */
export function jsonPatch(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  return between(asJson(from), asJson(to), "");
}

/** What would travel: no undefined, no functions, dates as strings. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

function between(from: unknown, to: unknown, path: string): readonly JsonPatchOperation[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return betweenLists(from, to, path);
  if (isFields(from) && isFields(to)) return betweenFields(from, to, path);
  return [{ op: "replace", path, value: to }];
}

function betweenFields(from: Fields, to: Fields, path: string): readonly JsonPatchOperation[] {
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  return [
    ...removed.map((name) => ({ op: "remove" as const, path: below(path, name) })),
    ...Object.entries(to).flatMap(([name, value]) =>
      Object.hasOwn(from, name)
        ? between(from[name], value, below(path, name))
        : [{ op: "add" as const, path: below(path, name), value }],
    ),
  ];
}

/**
 * Equal items at both ends stay; what is left in the middle is changed place by place, then lengthened or shortened. So a
 * container added in front or at the end is one operation, whatever the others look like.
 */
function betweenLists(from: readonly unknown[], to: readonly unknown[], path: string): readonly JsonPatchOperation[] {
  const start = commonLength(from, to);
  const end = commonLength(from.slice(start).reverse(), to.slice(start).reverse());
  const before = from.slice(start, from.length - end);
  const after = to.slice(start, to.length - end);
  const both = Math.min(before.length, after.length);
  const changed = after.slice(0, both).flatMap((item, i) => between(before[i], item, below(path, start + i)));
  const added = after.slice(both).map((value, i) => ({ op: "add" as const, path: below(path, start + both + i), value }));
  // Each removal moves the next item into the same place.
  const removed = before.slice(both).map(() => ({ op: "remove" as const, path: below(path, start + both) }));
  return [...changed, ...added, ...removed];
}

function commonLength(a: readonly unknown[], b: readonly unknown[]): number {
  const differsAt = a.findIndex((item, i) => i >= b.length || !isDeepStrictEqual(item, b[i]));
  return differsAt === -1 ? a.length : differsAt;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** A name below a path: "~" and "/" have to be spelt differently (RFC 6901). */
const below = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
