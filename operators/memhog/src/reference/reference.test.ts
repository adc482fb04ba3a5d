import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkManifests } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { memhogFlags } from "../cli/flags.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { aligned } from "./align.ts";
import { labelValues } from "./label-values.ts";
import { metricsOfOurs, referenceFiles } from "./reference.ts";
import { docs } from "./write.ts";

const read = (path: string) => readFileSync(join(docs, path), "utf8");

it("docs/reference is what the program says (node operators/memhog/src/reference/write.ts)", async () =>
  expect(await checkManifests(join(docs, "reference"), referenceFiles())).toEqual([]));

it("nothing else is in docs/reference: what is made no more is deleted", () =>
  expect(globSync("*", { cwd: join(docs, "reference") }).toSorted()).toEqual(Object.keys(referenceFiles()).toSorted()));

it("metrics are found with their labels", () => {
  const decisions = metricsOfOurs().find(({ name }) => name === "memhog_decisions_total");
  expect(decisions).toMatchObject({ type: "counter", labelNames: ["decision", "reason"] });
});

it("every label of a metric is explained", () => {
  const explained = labelValues.map(({ metric, label }) => `${metric} ${label}`);
  const labels = metricsOfOurs().flatMap(({ name, labelNames }) => labelNames.map((label) => `${name} ${label}`));
  expect([...explained, "memhog_decisions_total reason"].toSorted()).toEqual(labels.toSorted());
});

it("the troubleshooting guide has an entry for every reason, and for no other", () => {
  const entries = [...read("guides/troubleshooting.md").matchAll(/^\| `([A-Z]\w+)`/gm)].map(([, reason]) => reason);
  expect(entries.toSorted()).toEqual([...Object.keys(raiseReasons), ...Object.keys(holdReasons)].toSorted());
});

const pages = [...globSync("**/*.md", { cwd: docs }), "../operators/memhog/README.md"];

it.each(pages)("docs/%s: its links lead somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => globSync(join(docs, dirname(page), link)).length === 0);
  expect(broken).toEqual([]);
});

it("the guides name flags that there are", () => {
  const { help = "" } = memhogFlags(["--help"], {});
  const named = globSync("guides/*.md", { cwd: docs }).flatMap(
    (page) => read(page).match(/--(?:prometheus|install)-[a-z-]+/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((flag) => !help.includes(`${flag} `))).toEqual([]);
});

it("the map of docs/architecture.md names files that there are", () => {
  const top = join(docs, "..");
  const exclude = (name: string) => name === "node_modules";
  const files = globSync("{packages,operators,tools,workloads}/**/*.{ts,grit}", { cwd: top, exclude });
  const named = [...read("architecture.md").matchAll(/`([\w./-]+\.(?:ts|grit))`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});

describe("a table", () => {
  it("has columns as wide as their widest cell", () =>
    expect(aligned("| a | b |\n| --- | --- |\n| `long` |  |")).toBe("| a      | b   |\n| ------ | --- |\n| `long` |     |"));

  it("keeps an escaped bar inside of its cell, and leaves the text around it alone", () =>
    expect(aligned("x | y\n\n| a |\n| --- |\n| 1 \\| 2 |\n")).toBe("x | y\n\n| a      |\n| ------ |\n| 1 \\| 2 |\n"));
});
