import { defineResource, quantity, rule, z } from "@memhog/runtime";
import { expect, it } from "vitest";
import { referenceOf } from "./reference.ts";

const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  shortNames: ["c"],
  description: "Holds tea.",
  spec: z.object({
    size: z.int().min(1).max(9).apply(rule, "self % 2 == 1", "must be odd").default(3).describe("In sips"),
    tea: z.enum(["Green", "Black"]).describe("Which | one."),
    sugar: quantity().optional(),
    guests: z.array(z.string().max(10)).max(3).optional().describe("Who drinks."),
  }),
  conditions: { Empty: { True: { Drunk: "Nothing is left." }, False: ["Filled"] } },
});

it("a reference page says what kubectl explain says, and bounds, defaults, rules and reasons", () => {
  expect(referenceOf(Cup)).toBe(`## Cup

\`example.com/v1\`, namespaced: \`cups\`, \`c\`

Holds tea.

| Field | Type | Default | Meaning |
| --- | --- | --- | --- |
| \`spec\` (required) | object |  | Desired state. |
| \`spec.size\` | integer, at least 1, at most 9 | \`3\` | In sips. Must be odd. |
| \`spec.tea\` (required) | \`Green\` or \`Black\` |  | Which \\| one. |
| \`spec.sugar\` | integer or string, at most 64 characters |  | Must be a quantity, like 512Mi or 2. |
| \`spec.guests\` | list of string, at most 3 elements |  | Who drinks. |
| \`status\` | object |  | Observed state. |
| \`status.observedGeneration\` | integer, at least 0 |  | Generation of the object that this status describes. |
| \`status.conditions\` | list of object, at most 32 elements |  | What is known about the object: Empty (Drunk, Filled). |

| Condition | Status | Reason | Meaning |
| --- | --- | --- | --- |
| \`Empty\` | \`True\` | \`Drunk\` | Nothing is left. |
| \`Empty\` | \`False\` | \`Filled\` |  |
`);
});
