import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { resolveVersion } from "../versions.ts";
import { findBinaries } from "./binaries.ts";

// Only real binaries know who they are.
it("finds binaries that report the requested version", async () => {
  const version = resolveVersion(process.env.LOCALCLUSTER_KUBERNETES || undefined);
  const found = await findBinaries(["etcd", "kube-apiserver", "kubectl"], { kubernetes: version.minor });
  expect(says(found["kube-apiserver"], "--version")).toContain(`v${version.minor}.`);
  expect(says(found.kubectl, "version", "--client")).toContain(`v${version.minor}.`);
  expect(says(found.etcd, "--version")).toMatch(/^etcd Version: 3\./);
});

function says(path: string, ...args: readonly string[]): string {
  return execFileSync(path, args, { encoding: "utf8" });
}
