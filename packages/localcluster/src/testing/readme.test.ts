import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { comparable, stepsIn } from "./readme.ts";

const readme = `
\`\`\`sh
npm start
\`\`\`
\`\`\`console
$ kubectl get gn
NAME   READY   AGE
a      3       5s
$ kubectl scale gn/a --replicas=2
$ kubectl delete gn a
gordon "a" deleted
\`\`\`
`;

it("finds every command of a console block, and its expected output", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "readme-"));
  const path = join(folder.path, "README.md");
  await writeFile(path, readme);
  expect(await stepsIn(path)).toEqual([
    { command: "kubectl get gn", says: "NAME READY AGE\na 3 …" },
    { command: "kubectl scale gn/a --replicas=2", says: "" },
    { command: "kubectl delete gn a", says: 'gordon "a" deleted' },
  ]);
});

it.each(["12s", "3m5s"])("normalizes the age %s", (age) => expect(comparable(`a    ${age}`)).toBe("a …"));

it("normalizes the namespace that newer kubectls print on deletion", () =>
  expect(comparable('pod "a" deleted from test-1 namespace')).toBe('pod "a" deleted'));

it("normalizes the invalid value that older API servers omit", () =>
  expect(comparable('spec.size: Invalid value: "integer": must be odd')).toBe(
    comparable("spec.size: Invalid value: 4: must be odd"),
  ));
