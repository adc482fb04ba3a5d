// The table of built-in structs is made from the one of the simulator, which is read from the Go packages of Kubernetes. To
// make it anew after that one has changed: vitest run --project node packages/runtime/src/client/scan/structs.test.ts -u
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as kinds from "../../index.ts";
import type { Kind } from "../../objects/object.ts";
import { structBook } from "./structs.ts";

const source = join(import.meta.dirname, "../../../../simulator/src/kinds/generated/structs.ts");
const lines = new Map(
  [...readFileSync(source, "utf8").matchAll(/^ {2}"([^"]+)": "([^"]*)",$/gm)].map(([, name = "", line = ""]) => [name, line]),
);

const builtIn = Object.values(kinds as Record<string, unknown>).filter(
  (value): value is Kind => typeof value === "object" && value !== null && "plural" in value && "group" in value,
);

/** Schemas are recursive, and "any" to the simulator: definitions of kinds are not read from protobuf. */
const roots = builtIn.filter(({ group }) => group !== "apiextensions.k8s.io").map(structName);

function structName({ group, version, kind }: Kind): string {
  return `${group.split(".")[0] || "core"}.${version}.${kind}`;
}

function needed(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    const line = lines.get(name);
    if (line === undefined || found.has(name)) continue;
    found.add(name);
    needed(
      [...line.matchAll(/(?:[:~]|\]|\}|\*)([a-z]+\.v\w+\.\w+)/g)].map(([, type = ""]) => type),
      found,
    );
  }
  return found;
}

describe("the structs of built-in kinds", () => {
  it("are those of the simulator, as far as our kinds need them", async () => {
    const text = [
      "// Made from the simulator's table by structs.test.ts, which says how; structs.ts says what it means.",
      "export const structs: Readonly<Record<string, string>> = {",
      ...[...needed(roots)].sort().map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(lines.get(name))},`),
      "};",
      "",
    ].join("\n");
    await expect(text).toMatchFileSnapshot("generated/structs.ts");
  });

  it("are there for every kind we have a type for", () => {
    const book = structBook();
    expect(roots.filter((name) => book(name) === undefined)).toEqual([]);
    expect(roots.length).toBeGreaterThan(20);
  });
});
