import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkManifests } from "@memhog/kit";
import { helpText } from "@memhog/runtime/operator";
import { describe, expect, it } from "vitest";
import { program } from "../cli/commands.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { labelValues } from "./label-values.ts";
import { aligned, memhogMetricsList, referenceFiles } from "./reference.ts";
import { docs } from "./write.ts";

const read = (path: string) => readFileSync(join(docs, path), "utf8");

it("docs/reference is up to date (node operators/memhog/src/reference/write.ts)", async () =>
  expect(await checkManifests(join(docs, "reference"), referenceFiles())).toEqual([]));

it("docs/reference contains only generated files", () =>
  expect(globSync("*", { cwd: join(docs, "reference") }).toSorted()).toEqual(Object.keys(referenceFiles()).toSorted()));

it("the metrics are listed with their labels", () => {
  const decisions = memhogMetricsList().find(({ name }) => name === "memhog_decisions_total");
  expect(decisions).toMatchObject({ type: "counter", labelNames: ["decision", "reason", "namespace", "app"] });
});

it("every metric label with fixed values is documented", () => {
  const isName = (label: string) => label === "namespace" || label === "app";
  const explained = labelValues.map(({ metric, label }) => `${metric} ${label}`);
  const labels = memhogMetricsList().flatMap(({ name, labelNames }) =>
    labelNames.filter((label) => !isName(label)).map((label) => `${name} ${label}`),
  );
  expect([...explained, "memhog_decisions_total reason"].toSorted()).toEqual(labels.toSorted());
});

it("the troubleshooting guide has an entry for every reason and no others", () => {
  const entries = [...read("guides/troubleshooting.md").matchAll(/^\| `([A-Z]\w+)`/gm)].map(([, reason]) => reason);
  expect(entries.toSorted()).toEqual([...Object.keys(raiseReasons), ...Object.keys(holdReasons)].toSorted());
});

const pages = [...globSync("**/*.md", { cwd: docs }), "../operators/memhog/README.md"];

it.each(pages)("docs/%s has no broken links", (page) => {
  const prose = read(page).replaceAll(/`[^`\n]*`/g, ""); // a pattern in code may look like a link
  const links = [...prose.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => globSync(join(docs, dirname(page), link)).length === 0);
  expect(broken).toEqual([]);
});

it("the guides use existing flags", () => {
  const help = helpText(program);
  const named = globSync("guides/*.md", { cwd: docs }).flatMap(
    (page) => read(page).match(/--(?:prometheus|install)-[a-z-]+/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((flag) => !help.includes(`${flag} `))).toEqual([]);
});

it("docs/architecture.md lists existing files", () => {
  const top = join(docs, "..");
  const exclude = (name: string) => name === "node_modules";
  const files = globSync("{packages,operators,tools,workloads}/**/*.{ts,grit}", { cwd: top, exclude });
  const named = [...read("architecture.md").matchAll(/`([\w./-]+\.(?:ts|grit))`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});

describe("aligned Markdown table", () => {
  it("has columns as wide as their widest cell", () =>
    expect(aligned("| a | b |\n| --- | --- |\n| `long` |  |")).toBe("| a      | b   |\n| ------ | --- |\n| `long` |     |"));

  it("keeps an escaped bar in its cell and does not change other text", () =>
    expect(aligned("x | y\n\n| a |\n| --- |\n| 1 \\| 2 |\n")).toBe("x | y\n\n| a      |\n| ------ |\n| 1 \\| 2 |\n"));
});
