import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DownloadError } from "../errors.ts";
import { Downloads } from "./downloads.ts";
import { releaseSite } from "./fixtures/release-site.ts";

const ignore = () => {};

it("writes a file, says how far it is, and returns its SHA-256", async () => {
  await using site = await releaseSite();
  const content = Buffer.alloc(3_000_000, "release");
  site.answer("/file", content);
  const details: string[] = [];
  const path = join(site.cache, "..", "file");
  const sum = await new Downloads().file(`${site.url}/file`, path, (text) => details.push(text));
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(sum).toBe(createHash("sha256").update(content).digest("hex"));
  expect(details.at(-1)).toBe("3 of 3 MB");
});

it("follows redirects, as the sites of Kubernetes and of etcd send them", async () => {
  await using site = await releaseSite();
  site.answer("/here", (response) => response.writeHead(302, { location: `${site.url}/there` }).end());
  site.answer("/there", "found");
  expect(await new Downloads().text(`${site.url}/here`)).toBe("found");
});

it("gives up on a host that does not answer, and does not ask it again", async () => {
  await using site = await releaseSite();
  site.answer("/text", ignore);
  const downloads = new Downloads({ answerWithin: 50 });
  await expect(downloads.text(`${site.url}/text`)).rejects.toThrow(/no answer within 0.05 s/);
  await expect(downloads.text(`${site.url}/other`)).rejects.toThrow(/other: no answer within/);
  expect(site.asked).toEqual(["/text"]);
});

it("gives up on an answer that stalls", async () => {
  await using site = await releaseSite();
  site.answer("/file", (response) => response.writeHead(200).write("some"));
  const downloads = new Downloads({ bytesWithin: 50 });
  await expect(downloads.file(`${site.url}/file`, join(site.cache, "..", "file"), ignore)).rejects.toThrow(
    /no more bytes within/,
  );
});

it("says why a host cannot be reached", async () => {
  const site = await releaseSite();
  await site[Symbol.asyncDispose]();
  const failure = await new Downloads().text(`${site.url}/text`).catch((error) => error);
  expect(failure).toBeInstanceOf(DownloadError);
  expect(failure.message).toMatch(/ECONNREFUSED/);
});

it("stops when it is told to, for the reason it was given", async () => {
  await using site = await releaseSite();
  const stop = new AbortController();
  site.answer("/text", () => stop.abort(new Error("enough")));
  await expect(new Downloads({ signal: stop.signal }).text(`${site.url}/text`)).rejects.toThrow("enough");
});
