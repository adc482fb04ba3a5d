// Schemas are built in the order that suits the code; people read them in files. This gives every node the same order of
// words, so that a manifest reads well and a change of it is a small diff.
import type { StructuralSchema } from "./structural-types.ts";

const order: readonly string[] = [
  ...["title", "description", "type", "format", "nullable", "default", "enum", "pattern"],
  ...["minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems", "minProperties", "maxProperties", "allOf", "anyOf"],
  ...["required", "properties", "additionalProperties", "items"],
];

/** The same schema with its keywords in the order above; Kubernetes' own come last, properties stay as they were defined. */
export function tidy(schema: StructuralSchema): StructuralSchema {
  const { properties, additionalProperties, items, ...scalars } = schema;
  const nested = {
    ...scalars,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, tidy(property)])),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: tidy(additionalProperties) }),
    ...(items !== undefined && { items: tidy(items) }),
  };
  return Object.fromEntries(Object.entries(nested).toSorted(([a], [b]) => rank(a) - rank(b)));
}

function rank(keyword: string): number {
  const place = order.indexOf(keyword);
  return place === -1 ? order.length : place;
}
