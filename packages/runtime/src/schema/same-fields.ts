// Whether two versions of a kind have the same fields. The API server drops what a schema does not know, so between versions
// that differ, and that nobody converts, every read and write loses something, and nobody is told.
import { isDeepStrictEqual } from "node:util";
import type { StructuralSchema } from "./structural-types.ts";

/** The first field that only one knows, or that is something else in the other: ".spec.size". Rules and words may differ. */
export function fieldThatDiffers(one: StructuralSchema, other: StructuralSchema, path = ""): string | undefined {
  if (!isDeepStrictEqual(kindOfValue(one), kindOfValue(other))) return path || ".";
  const parts = [...new Set([...Object.keys(partsOf(one)), ...Object.keys(partsOf(other))])];
  for (const part of parts) {
    const [here, there] = [partsOf(one)[part], partsOf(other)[part]];
    if (here === undefined || there === undefined) return `${path}${part}`;
    const found = fieldThatDiffers(here, there, `${path}${part}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kindOfValue(schema: StructuralSchema): readonly unknown[] {
  return [schema.type, schema["x-kubernetes-int-or-string"], schema["x-kubernetes-preserve-unknown-fields"]];
}

function partsOf({ properties = {}, items, additionalProperties }: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  return {
    ...Object.fromEntries(Object.entries(properties).map(([name, schema]) => [`.${name}`, schema])),
    ...(items !== undefined && { "[]": items }),
    ...(additionalProperties !== undefined && { "{}": additionalProperties }),
  };
}
