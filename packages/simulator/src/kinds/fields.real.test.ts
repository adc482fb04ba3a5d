// Only a real API server knows the fields of its kinds. If this fails after a change of version, run it with UPDATE=1.
import { readFile, writeFile } from "node:fs/promises";
import { testCluster } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { builtInKinds } from "./built-in.ts";
import { fieldTableOf, typeNameOf } from "./field-table.ts";

const file = new URL("generated/field-table.ts", import.meta.url);

it("the table of fields is that of the real API server", async () => {
  await using cluster = await testCluster();
  const openapi = await cluster.request("GET", "/openapi/v2");
  const lines = [...fieldTableOf(openapi, builtInKinds.map(typeNameOf))];
  const text = [
    "// Made from the OpenAPI document of a real API server by fields.real.test.ts; field-table.ts says what it means.",
    "export const fieldTable: Readonly<Record<string, string>> = {",
    ...lines.map(([name, fields]) => `  ${JSON.stringify(name)}: ${JSON.stringify(fields)},`),
    "};",
    "",
  ].join("\n");
  if (process.env.UPDATE) await writeFile(file, text);
  expect(await readFile(file, "utf8")).toBe(text);
});
