import { expect, it } from "vitest";
import { UnknownVersionError } from "./errors.ts";
import { defaultVersion, resolveVersion, supportedVersions } from "./versions.ts";

const spellings = [
  { text: "1.37", means: "1.37.1" },
  { text: "v1.37", means: "1.37.1" },
  { text: "1.37.1", means: "1.37.1" },
  { text: "v1.32.2", means: "1.32.2" },
  { text: " 1.36 ", means: "1.36.1" },
  { text: undefined, means: resolveVersion(defaultVersion).patch },
];
it.each(spellings)("$text means $means", ({ text, means }) => expect(resolveVersion(text).patch).toBe(means));

const unknown = ["1.99", "1.37.99", "1.3", "1", "latest", "", "1.37.1.1", "1x37"];
it.each(unknown)("rejects %j, and lists the supported versions", (text) => {
  expect(() => resolveVersion(text)).toThrow(UnknownVersionError);
  for (const { minor } of supportedVersions) expect(() => resolveVersion(text)).toThrow(minor);
});

it("has one row per minor version, with a patch version of it", () => {
  expect(new Set(supportedVersions.map(({ minor }) => minor)).size).toBe(supportedVersions.length);
  for (const { minor, patch } of supportedVersions) expect(patch).toMatch(new RegExp(`^${minor.replace(".", "\\.")}\\.\\d+$`));
});
