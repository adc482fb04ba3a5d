import { expect, it } from "vitest";
import { toYaml } from "./yaml.ts";

it("makes a document of each object, also of those in a list", async () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => ({ metadata: { name } }));
  const documents = "metadata:\n  name: a\n---\nmetadata:\n  name: b\n---\nmetadata:\n  name: c\n";
  expect(await toYaml(a as object, [b as object, c as object])).toBe(documents);
});
