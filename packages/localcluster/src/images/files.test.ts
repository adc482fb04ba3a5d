import { expect, it } from "vitest";
import { entriesOf } from "./files.ts";

it("lets the later of two files at one path win", async () => {
  const entries = await entriesOf([
    { path: "/etc/motd", content: "first" },
    { path: "etc/../etc/motd", content: "second" },
  ]);
  expect(entries).toMatchObject([{ path: "etc/" }, { path: "etc/motd", content: Buffer.from("second") }]);
});

it("keeps the mode of a folder that is named, and makes the others on the way", async () => {
  expect(await entriesOf([{ path: "/var/tmp", mode: 0o1777 }])).toEqual([
    { type: "directory", path: "var/", mode: 0o755 },
    { type: "directory", path: "var/tmp/", mode: 0o1777 },
  ]);
});

it("never reaches above the root", async () => {
  expect(await entriesOf([{ path: "../../etc/passwd", link: "x" }])).toMatchObject([{ path: "etc/" }, { path: "etc/passwd" }]);
});
