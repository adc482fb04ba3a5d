import { expect, it } from "vitest";
import { UnsupportedPlatformError } from "../errors.ts";
import { cacheDirectory, prepareSearch } from "./search.ts";

const folders = [
  { env: { HOME: "/home/me" }, gives: "/home/me/.cache/localcluster" },
  { env: { HOME: "/home/me", XDG_CACHE_HOME: "/var/cache/me" }, gives: "/var/cache/me/localcluster" },
  { env: { HOME: "/home/me", XDG_CACHE_HOME: "/var/cache/me", LOCALCLUSTER_CACHE: "/fast/binaries" }, gives: "/fast/binaries" },
];
it.each(folders)("keeps binaries in $gives for $env", ({ env, gives }) => expect(cacheDirectory(env)).toBe(gives));

const machines = [
  { platform: "linux", arch: "x64", gives: "amd64" },
  { platform: "linux", arch: "arm64", gives: "arm64" },
];
it.each(machines)("looks for $gives on $platform/$arch", ({ platform, arch, gives }) =>
  expect(prepareSearch({}, { platform, arch }).architecture).toBe(gives),
);

it.each([
  { platform: "darwin", arch: "arm64" },
  { platform: "win32", arch: "x64" },
  { platform: "linux", arch: "ia32" },
])("says that it cannot work on $platform/$arch", ({ platform, arch }) => {
  expect(() => prepareSearch({}, { platform, arch })).toThrow(UnsupportedPlatformError);
  expect(() => prepareSearch({}, { platform, arch })).toThrow(`this is ${platform} on ${arch}`);
});
