// The little JSONPath that columns and selectable fields use: `.spec.list[0].name`, `.status.conditions[?(@.type=="Ready")].status`,
// `.metadata.annotations['a.b/c']`, `.spec.list[*].name`.
import { isObject } from "../json.ts";

type Step = (value: unknown) => readonly unknown[];

const token =
  /\.([^.[\]]+)|\[\s*(-?\d+)\s*\]|\[\s*(\*)\s*\]|\[\s*['"]([^'"]*)['"]\s*\]|\[\?\(\s*@((?:\.[^.\s=]+)+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([^\s)]+))\s*\)\]/y;

/** What a path finds, in order; undefined if it is no such path. */
export function jsonPath(path: string): ((object: unknown) => readonly unknown[]) | undefined {
  const steps: Step[] = [];
  const pattern = new RegExp(token);
  // A dot in the name of a field is written as "\.": it is put aside while the path is cut.
  const text = path.replaceAll("\\.", "\0");
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (found === null) return undefined;
    steps.push(stepOf(found));
  }
  return (object) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [object]);
}

function stepOf([, field, index, all, quoted, filter, ...equal]: RegExpExecArray): Step {
  const name = (field ?? quoted)?.replaceAll("\0", ".");
  if (name !== undefined) return (value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []);
  if (index !== undefined) return (value) => (Array.isArray(value) ? value.slice(Number(index)).slice(0, 1) : []);
  if (all !== undefined) return (value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []);
  const wanted = equal.find((text) => text !== undefined);
  const inner = jsonPath(filter ?? "");
  return (value) => (Array.isArray(value) ? value.filter((item) => inner?.(item).some((each) => String(each) === wanted)) : []);
}
